package chart

import (
	"fmt"
	"image/color"
	"strings"
)

// Color is a colour of charts. A PNG has the light one; in an SVG picture style rules exchange it
// for the dark one.
type Color struct{ light, dark color.RGBA }

// RGBA makes it a color.Color.
func (i Color) RGBA() (r, g, b, a uint32) { return i.light.RGBA() }

func rgb(x uint32) color.RGBA { return color.RGBA{uint8(x >> 16), uint8(x >> 8), uint8(x), 0xff} }

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// The colors. No two are alike in the light, so that each can be found again in an SVG picture.
var (
	paper  = Color{rgb(0xffffff), rgb(0x16191d)}
	Black  = Color{rgb(0x1f2328), rgb(0xe6e9ed)}
	Gray   = Color{rgb(0x59636e), rgb(0x9ba6b2)}
	grid   = Color{rgb(0xe1e4e8), rgb(0x343a42)}
	Blue   = Color{rgb(0x1a66b0), rgb(0x6db3f7)}
	Orange = Color{rgb(0xb94a08), rgb(0xf79b5e)}
	Green  = Color{rgb(0x1a7f37), rgb(0x5fd083)}
	Violet = Color{rgb(0x7a45bf), rgb(0xc6a4fa)}
	Teal   = Color{rgb(0x0b7a85), rgb(0x55cfdb)}
	Rose   = Color{rgb(0xb3246b), rgb(0xf58fc0)}
	Olive  = Color{rgb(0x6f6600), rgb(0xd3c84e)}
	colors = append([]Color{paper, Black, Gray, grid, Orange, Green, Violet, Teal, Rose, Olive}, shades...)
)

// Palette is the colours of subjects, in their order.
var Palette = []Color{Blue, Orange, Green, Violet, Teal, Rose, Olive, Black}

// shades go from near the paper to Blue.
var shades = []Color{mixWithPaper(0.12), mixWithPaper(0.3), mixWithPaper(0.5), mixWithPaper(0.72), Blue}

// mixWithPaper is so much of Blue on paper.
func mixWithPaper(part float64) Color {
	mix := func(a, b color.RGBA) color.RGBA {
		c := func(a, b uint8) uint8 { return uint8(float64(a)*part + float64(b)*(1-part) + 0.5) }
		return color.RGBA{c(a.R, b.R), c(a.G, b.G), c(a.B, b.B), 0xff}
	}
	return Color{mix(Blue.light, paper.light), mix(Blue.dark, paper.dark)}
}

// DarkStyleRules returns the style rules that exchange colors where the reader prefers dark. scope
// goes before each selector.
func DarkStyleRules(scope string) string {
	var b strings.Builder
	b.WriteString("@media(prefers-color-scheme:dark){")
	for _, i := range colors {
		for _, attribute := range []string{"fill", "stroke"} {
			fmt.Fprintf(&b, "%s[%s=\"%s\"]{%s:%s}", scope, attribute, hex(i.light), attribute, hex(i.dark))
		}
	}
	b.WriteString("}")
	return b.String()
}
