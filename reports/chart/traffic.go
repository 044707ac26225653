package chart

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// TrafficChart returns the communication matrix of a run: how many bytes each rank, or each group
// of ranks, has sent to each other. It is nil if there is no traffic.
func TrafficChart(name, title string, ranks int, all []model.PairTraffic) *Chart {
	if len(all) == 0 {
		return nil
	}
	m := &trafficMatrix{ranks: ranks, group: max(all[0].Group, 1)}
	for (ranks+m.group-1)/m.group > maxTrafficRows {
		m.group *= 2
	}
	rows := (ranks + m.group - 1) / m.group
	bytes := make([]int, rows*rows)
	for _, t := range all {
		x := &bytes[t.From/m.group*rows+t.To/m.group]
		*x += t.Bytes
		m.most = max(m.most, *x)
	}
	m.picture = image.NewNRGBA(image.Rect(0, 0, rows, rows))
	for i, b := range bytes {
		if b > 0 {
			m.picture.SetNRGBA(i%rows, i/rows, m.shade(b))
		}
	}
	of := "a rank"
	if m.group > 1 {
		of = fmt.Sprintf("%d ranks", m.group)
	}
	return &Chart{Name: name, Title: title,
		Text: fmt.Sprintf("Each row is %s that sends, each column %s that receives. The stronger the colour, the more bytes, on a logarithmic scale up to %s.", of, of, unit.Bytes(m.most)),
		height: func(width vg.Length) vg.Length {
			return m.side(width) + 2*lineHeight + 2*pictureMargin
		},
		draw: m.draw,
	}
}

// trafficMatrix is the picture of a communication matrix.
type trafficMatrix struct {
	ranks, group, most int
	picture            *image.NRGBA
}

const (
	maxTrafficRows     = 256
	maxTrafficSide     = vg.Length(340)
	trafficShadeRatio  = 1000 // of the most bytes to those that have the weakest colour
	minTrafficOpacity  = 0.25
	trafficSquareWidth = vg.Length(26)
)

// shade returns the colour of a number of bytes: Blue, the more opaque the more bytes.
func (m *trafficMatrix) shade(bytes int) color.NRGBA {
	part := 1 + math.Log(float64(bytes)/float64(m.most))/math.Log(trafficShadeRatio)
	return color.NRGBA{0x3f, 0x7f, 0xd0, uint8(255 * max(part, minTrafficOpacity))}
}

func (m *trafficMatrix) side(width vg.Length) vg.Length {
	return min(width-2*pictureMargin-m.nameWidth(), maxTrafficSide, trafficSquareWidth*vg.Length(m.picture.Rect.Dx()))
}

func (m *trafficMatrix) nameWidth() vg.Length {
	return labelStyle.Width(strconv.Itoa(m.ranks)) + 2*pictureMargin
}

func (m *trafficMatrix) draw(c draw.Canvas) {
	side := m.side(c.Max.X - c.Min.X)
	left, top := c.Min.X+pictureMargin+m.nameWidth(), c.Max.Y-pictureMargin-lineHeight
	square := vg.Rectangle{Min: vg.Point{X: left, Y: top - side}, Max: vg.Point{X: left + side, Y: top}}
	c.DrawImage(square, m.picture)
	c.SetLineStyle(draw.LineStyle{Color: gridColor, Width: 0.75})
	c.Stroke(square.Path())
	edge := side * vg.Length(m.group) / vg.Length(m.group*m.picture.Rect.Dx()) // of a row
	step := max(1, int(tickStep(float64(m.ranks), int(side/(labelStyle.Width(strconv.Itoa(m.ranks))+lineHeight)))))
	for rank := 0; rank < m.ranks; rank += step {
		at := edge * (vg.Length(rank)/vg.Length(m.group) + 0.5)
		c.FillText(withAlignment(minorTextStyle, draw.XCenter, draw.YBottom), vg.Point{X: left + at, Y: top + 3}, strconv.Itoa(rank))
		c.FillText(withAlignment(minorTextStyle, draw.XRight, draw.YCenter), vg.Point{X: left - 4, Y: top - at}, strconv.Itoa(rank))
	}
}
