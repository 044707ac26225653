// Package reports makes documents of results: one function a family of reports, from values to a doc.Document.
//
// The way of a report: a verb of the command line gathers values (of fit, compare, a platform, a recording), a function here
// makes a document of them, and package render shows it as text, as a page, as CSV or as JSON. Charts are drawn by package
// chart, numbers are printed by package format.
//
// Reports computes nothing beyond layout: what is shown was computed by fit, model or the platform catalogue. The same
// results give the same bytes. To add a section, make its tables and charts in the file of its family and add a doc.Section
// to the document.
package reports
