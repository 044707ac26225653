package reports

import (
	"fmt"
	"image/color"
	"strings"
)

// ink is a colour of charts. Drawn on paper it is the light one; an SVG picture says which stands for it in the dark.
type ink struct{ light, dark color.RGBA }

// RGBA makes an ink a color.Color.
func (i ink) RGBA() (r, g, b, a uint32) { return i.light.RGBA() }

func rgb(x uint32) color.RGBA { return color.RGBA{uint8(x >> 16), uint8(x >> 8), uint8(x), 0xff} }

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// The inks. No two are alike in the light, so that each can be found again in an SVG picture.
var (
	paper  = ink{rgb(0xffffff), rgb(0x16191d)}
	black  = ink{rgb(0x1f2328), rgb(0xe6e9ed)}
	gray   = ink{rgb(0x59636e), rgb(0x9ba6b2)}
	grid   = ink{rgb(0xe1e4e8), rgb(0x343a42)}
	blue   = ink{rgb(0x1a66b0), rgb(0x6db3f7)}
	orange = ink{rgb(0xb94a08), rgb(0xf79b5e)}
	green  = ink{rgb(0x1a7f37), rgb(0x5fd083)}
	violet = ink{rgb(0x7a45bf), rgb(0xc6a4fa)}
	teal   = ink{rgb(0x0b7a85), rgb(0x55cfdb)}
	rose   = ink{rgb(0xb3246b), rgb(0xf58fc0)}
	olive  = ink{rgb(0x6f6600), rgb(0xd3c84e)}
	inks   = append([]ink{paper, black, gray, grid, orange, green, violet, teal, rose, olive}, shades...)
)

// shades go from near the paper to blue.
var shades = []ink{faded(0.12), faded(0.3), faded(0.5), faded(0.72), blue}

// faded is so much of blue on paper.
func faded(part float64) ink {
	mix := func(a, b color.RGBA) color.RGBA {
		c := func(a, b uint8) uint8 { return uint8(float64(a)*part + float64(b)*(1-part) + 0.5) }
		return color.RGBA{c(a.R, b.R), c(a.G, b.G), c(a.B, b.B), 0xff}
	}
	return ink{mix(blue.light, paper.light), mix(blue.dark, paper.dark)}
}

// darkRules returns the style rules that exchange inks where the reader prefers dark. scope goes before each selector.
func darkRules(scope string) string {
	var b strings.Builder
	b.WriteString("@media(prefers-color-scheme:dark){")
	for _, i := range inks {
		for _, attribute := range []string{"fill", "stroke"} {
			fmt.Fprintf(&b, "%s[%s=\"%s\"]{%s:%s}", scope, attribute, hex(i.light), attribute, hex(i.dark))
		}
	}
	b.WriteString("}")
	return b.String()
}
