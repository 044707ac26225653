// Package chart draws charts of any width, as PNG and as SVG with colours for light and for dark.
//
// A kind of chart is a struct that has the data (SizePlot, StackedPlot, StripPlot, RatioPlot); its
// method Chart returns a Chart, which knows how to draw itself. A time line has a lane for each
// rank and for each part of the network; spans are what a lane was busy with, flights the messages
// between lanes. A distance matrix shows how near each two ranks are.
//
// gonum/plot draws axes, ticks and grids; the rest is drawn on its canvas. svgCanvas writes SVG
// with attributes that the script of a page reads: tooltips, the values of points, the scales of
// axes.
package chart
