// Package chart draws charts of any width, as PNG and as SVG with colours for light and for dark.
//
// A kind of chart is a struct that says what is to be seen (XY, Stacked, Strip, ...); its method
// Chart returns a Chart, which knows how to draw itself. gonum/plot draws axes, ticks and grids;
// the rest is drawn on its canvas.
package chart
