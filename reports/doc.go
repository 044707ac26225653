// Package reports shows results to people: tables in a terminal, charts, and a page.
//
// A Table is made once and shown three ways: as text, as part of a page, and as CSV. A chart is drawn once, on any size, as
// PNG and as SVG with colours for light and for dark. A page is one HTML file that needs nothing else.
//
// Reports computes nothing beyond layout: what is shown was computed by fit, model or the platform catalogue. The same
// results give the same bytes.
package reports

import ()

import ()

import ()
