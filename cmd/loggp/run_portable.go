package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/timeline"
)

// portable runs a program that any library can run.
func (r *runs) portable(cmd *cobra.Command, p portable.Program) error {
	var wrong error
	if r.class != "" {
		wrong = fmt.Errorf("--class is for the NAS Parallel Benchmarks: %s has --size and --rounds", p.Name)
	}
	if r.profile {
		wrong = errors.Join(wrong, fmt.Errorf("--profile is of calls of MPI, and %s runs by any library", p.Name))
	}
	if r.picture != "" && !p.Picture {
		wrong = errors.Join(wrong, fmt.Errorf("--picture: %s makes no picture", p.Name))
	}
	if r.record != "" && slices.Contains(job.Here, r.platform) {
		wrong = errors.Join(wrong, fmt.Errorf("--record: on %s it is for programs of MPI, and %s runs by any library", r.platform, p.Name))
	}
	if r.phases != "" {
		wrong = errors.Join(wrong, fmt.Errorf("--phases is for programs of MPI, and %s runs by any library", p.Name))
	}
	if wrong != nil {
		return misuse(cmd, wrong)
	}
	known, open, err := r.machine(cmd, true)
	if err != nil {
		return err
	}
	job, s, err := r.set(known, p.Usual, largest, open)
	if err == nil && !job.Library.CarriedBy().MPI() && (r.protocol != "" || r.collective != nil) {
		err = fmt.Errorf("--protocol and --collective are for libraries of MPI, which %s is not", job.Library.Name)
	}
	if err == nil && cmd.Flags().Changed("check") && !job.Library.CarriedBy().MPI() {
		err = fmt.Errorf("--check is for libraries of MPI, which %s is not", job.Library.Name)
	}
	if err == nil && r.record != "" && !job.Library.CarriedBy().MPI() {
		err = fmt.Errorf("--record is for libraries of MPI, which %s is not", job.Library.Name)
	}
	if err != nil {
		return misuse(cmd, err)
	}
	if err := errors.Join(r.recorder(cmd, job), r.courseOf(cmd, job)); err != nil {
		return err
	}
	library := sendingBy(job, r.protocol)[0]
	begin := time.Now()
	var result portable.Result
	run := func(w device.World) error {
		return library.Run(w, s.Size, func(x portable.Process) error {
			got, err := p.Run(x, s)
			if x.Rank() == 0 {
				result = got
			}
			return err
		})
	}
	var record *model.Timeline
	if !job.Real() {
		record, err = job.RecordAny(cmd.Context(), r.seed, r.most(), run)
	} else if w, wrong := job.World(cmd.Context(), r.seed); wrong != nil {
		err = wrong
	} else {
		err = run(w)
	}
	if err != nil {
		return fmt.Errorf("%s on %s: %w", p.Name, job.Platform.Machine.Name, err)
	}
	if r.picture != "" {
		if err := writePicture(r.picture, result.Picture); err != nil {
			return err
		}
	}
	title := fmt.Sprintf("%s, %s %d, rounds %d, on %s, %s: result correct", p.Name, p.Size, s.Size, s.Rounds, job.Platform.Machine.Name, job.Library.Name)
	document := &doc.Document{Title: title}
	if !job.Real() {
		document = timeline.RunTimes(title, fmt.Sprintf("One operation takes %v.", s.Operation), record, false)
	}
	document.AddTables("rate", "How fast "+p.Name+" is", rateTable(p, result))
	if err := show(cmd, document); err != nil {
		return err
	}
	if job.Real() {
		return nil
	}
	if err := errors.Join(r.keep(cmd, job), r.writeRun(cmd, []string{p.Name}, job, record, document)); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "emulated in %v\n", time.Since(begin).Round(time.Millisecond))
	return nil
}

// sendingBy returns the ways in which the library of a job sends.
func sendingBy(j *job.Job, protocol string) []*portable.Library {
	return portable.Carried(j.Library.CarriedBy(), j.Library.Name, j.Options(protocol))
}

func writePicture(name string, x *portable.Picture) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("--picture: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return x.Write(f)
}

// rateTable has the time of a round and what it comes to.
func rateTable(p portable.Program, r portable.Result) *doc.Table {
	t := &doc.Table{Name: "rate", Title: p.Name, Columns: []doc.Column{{Head: "result", Key: true, Kind: doc.Text}, {Head: "value", Kind: doc.Text}}}
	seconds := r.Time.Micros() / 1e6
	t.AddRow(doc.TextCell("time of a round"), doc.TextCell(fmt.Sprintf("%.3f ms", 1e3*seconds)))
	if r.Picture != nil {
		t.AddRow(doc.TextCell("frames a second"), doc.TextCell(fmt.Sprintf("%.4g", 1/seconds)))
		t.AddRow(doc.TextCell("pixels"), doc.TextCell(fmt.Sprintf("%d x %d", r.Picture.Edge, r.Picture.Edge)))
	}
	if p.Items != "frames" {
		t.AddRow(doc.TextCell(p.Items+" a second"), doc.TextCell(fmt.Sprintf("%.4g", float64(r.Items)/seconds)))
	}
	return t
}
