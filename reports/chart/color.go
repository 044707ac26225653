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

func rgbColor(x uint32) color.RGBA { return color.RGBA{uint8(x >> 16), uint8(x >> 8), uint8(x), 0xff} }

func hexColor(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// The colors. No two are alike in the light, so that each can be found again in an SVG picture.
var (
	backgroundColor = Color{rgbColor(0xffffff), rgbColor(0x16191d)}
	Black           = Color{rgbColor(0x1f2328), rgbColor(0xe6e9ed)}
	Gray            = Color{rgbColor(0x59636e), rgbColor(0x9ba6b2)}
	gridColor       = Color{rgbColor(0xe1e4e8), rgbColor(0x343a42)}
	Blue            = Color{rgbColor(0x1a66b0), rgbColor(0x6db3f7)}
	Orange          = Color{rgbColor(0xb94a08), rgbColor(0xf79b5e)}
	Green           = Color{rgbColor(0x1a7f37), rgbColor(0x5fd083)}
	Violet          = Color{rgbColor(0x7a45bf), rgbColor(0xc6a4fa)}
	Teal            = Color{rgbColor(0x0b7a85), rgbColor(0x55cfdb)}
	Rose            = Color{rgbColor(0xb3246b), rgbColor(0xf58fc0)}
	Olive           = Color{rgbColor(0x6f6600), rgbColor(0xd3c84e)}
	themeColors     = append([]Color{backgroundColor, Black, Gray, gridColor, Orange, Green, Violet, Teal, Rose, Olive}, timeShades...)
)

// Palette is the colours of subjects, in their order.
var Palette = []Color{Blue, Orange, Green, Violet, Teal, Rose, Olive, Black}

// timeShades go from near the paper to Blue.
var timeShades = []Color{blueShade(0.12), blueShade(0.3), blueShade(0.5), blueShade(0.72), Blue}

// blueShade returns Blue mixed with the background; part is the share of Blue.
func blueShade(part float64) Color {
	mix := func(a, b color.RGBA) color.RGBA {
		c := func(a, b uint8) uint8 { return uint8(float64(a)*part + float64(b)*(1-part) + 0.5) }
		return color.RGBA{c(a.R, b.R), c(a.G, b.G), c(a.B, b.B), 0xff}
	}
	return Color{mix(Blue.light, backgroundColor.light), mix(Blue.dark, backgroundColor.dark)}
}

// DarkStyleRules returns the style rules that exchange colors where the reader prefers dark. scope
// goes before each selector.
func DarkStyleRules(scope string) string {
	var b strings.Builder
	b.WriteString("@media(prefers-color-scheme:dark){")
	for _, i := range themeColors {
		for _, attribute := range []string{"fill", "stroke"} {
			fmt.Fprintf(&b, "%s[%s=\"%s\"]{%s:%s}", scope, attribute, hexColor(i.light), attribute, hexColor(i.dark))
		}
	}
	b.WriteString("}")
	return b.String()
}
