package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/render"
)

// terminalStyle returns how to print to w: for people where it is a terminal, plainly otherwise.
func terminalStyle(w io.Writer) render.Style {
	f, ok := underlyingFile(w)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return render.PlainStyle
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	s := render.TerminalStyle
	s.Width = width
	s.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

// addPrintFlags adds the flags by which a verb says how it prints what it has found.
func addPrintFlags(cmd *cobra.Command) {
	addChoiceFlag(cmd, "format", []string{"table", "csv", "json", "markdown"}, "table", "what to print")
	cmd.Flags().Bool("verbose", false, "print every warning and every row")
}

// printDocument prints a document as --format says, if the verb has that flag, or else as text.
func printDocument(cmd *cobra.Command, d *doc.Document) error {
	out := cmd.OutOrStdout()
	if writesToStandardOutput(cmd) {
		return nil
	}
	if f := cmd.Flags().Lookup("format"); f != nil {
		switch f.Value.String() {
		case "csv":
			return render.WriteCSV(out, d)
		case "json":
			return render.WriteJSON(out, d)
		}
	}
	return printText(cmd, d)
}

// printText prints a document as text, with all of it if the verb has --verbose, or as Markdown.
func printText(cmd *cobra.Command, d *doc.Document) error {
	out := cmd.OutOrStdout()
	if writesToStandardOutput(cmd) {
		return nil
	}
	if f := cmd.Flags().Lookup("format"); f != nil && f.Value.String() == "markdown" {
		return render.WriteMarkdown(out, d)
	}
	s := terminalStyle(out)
	if f := cmd.Flags().Lookup("verbose"); f != nil {
		s.Verbose = f.Value.String() == "true"
	}
	return render.WriteText(out, d, s)
}

// progressBar shows how far a long job is, on a terminal and after a moment only.
type progressBar struct {
	mu        sync.Mutex
	terminal  io.Writer // nil: not a terminal
	total     int
	beginTime time.Time
	lastShown time.Time
}

func newProgressBar(w io.Writer, total int) *progressBar {
	p := &progressBar{total: total, beginTime: time.Now()}
	if f, ok := underlyingFile(w); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal = w
	}
	return p
}

// Patience before the bar shows, and between its changes.
const (
	progressDelay    = 500 * time.Millisecond
	progressInterval = 100 * time.Millisecond
)

// fractionSteps are the steps of a job that reports only the fraction that is done.
const fractionSteps = 1000

// setTotal says of how many parts.
func (p *progressBar) setTotal(total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total = total
}

// setDone says how many parts are done.
func (p *progressBar) setDone(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.terminal == nil || now.Sub(p.beginTime) < progressDelay || now.Sub(p.lastShown) < progressInterval {
		return
	}
	p.lastShown = now
	const width = 30
	full := width * n / p.total
	left := now.Sub(p.beginTime) * time.Duration(p.total-n) / time.Duration(max(n, 1))
	count := fmt.Sprintf("%d/%d, ", n, p.total)
	if p.total == fractionSteps {
		count = ""
	}
	fmt.Fprintf(p.terminal, "\r\x1b[K[%s%s] %s%.0f s left", strings.Repeat("#", full), strings.Repeat(".", width-full), count, left.Seconds())
}

// end removes the bar.
func (p *progressBar) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal != nil && !p.lastShown.IsZero() {
		fmt.Fprint(p.terminal, "\r\x1b[K")
	}
}
