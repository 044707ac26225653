package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports/chart"
)

// writeNetworkPicture writes the picture of a platform's network as SVG. load is that of its links;
// nil: it is not shown.
func writeNetworkPicture(cmd *cobra.Command, file string, p *platform.Platform, load map[string]float64) error {
	c, err := loggp.NetworkChart(p, load)
	if err = errors.Join(checkNetworkPictureFile(file), err); err != nil {
		return newUsageError(cmd, prefixFlagToError("--picture", file, err))
	}
	return writeFile(cmd, file, func(w io.Writer) error { return c.SVG(w, chart.DefaultWidth) }, "picture of the network")
}

// checkNetworkPictureFile returns an error unless a file can have the picture of a network.
func checkNetworkPictureFile(file string) error {
	if fileExtension(file) != ".svg" {
		return errors.New("the picture of a network is an SVG file: name it so")
	}
	return nil
}
