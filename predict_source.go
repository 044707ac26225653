package loggp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
)

// platformSource returns a source that adds up the steps of machine and library.
func (o PredictOptions) platformSource() (predictionSource, error) {
	var none predictionSource
	known, err := LoadPlatform(o.Platform)
	if err != nil {
		return none, err
	}
	job, err := newJob(known, o.Library, o.Ranks, 0)
	if err != nil {
		return none, err
	}
	if job.Ranks < 2 {
		return none, &OptionError{"Ranks", strconv.Itoa(job.Ranks), errors.New("a message needs at least two")}
	}
	if err := job.Library.ClosedForm(); err != nil {
		return none, err
	}
	pair, err := pairOf(job, o.Place)
	if err != nil {
		return none, err
	}
	names, err := o.protocols()
	if err != nil {
		return none, err
	}
	call := cmp.Or(o.Mode, SendCalls[model.StandardMode])
	mode, _ := SendMode(call)
	if mode == model.SynchronousMode {
		all := names
		names = slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !model.FindProtocol(name).IsSynchronous() })
		if o.Protocol != nil && len(names) < len(all) {
			return none, &OptionError{"Protocol", strings.Join(o.Protocol, ","), errNotSynchronous}
		}
	}
	machine, path := job.Platform.Machine, job.Platform.Machine.PathBetweenRanks(job.Ranks, pair[0], pair[1])
	transfer := func(name string, k int) model.Transfer {
		return model.Transfer{Machine: machine, Library: job.Library, Protocol: model.FindProtocol(name), Mode: mode, Bytes: k, Path: path}
	}
	return predictionSource{
		platform: machine.Name, library: job.Library.Name, place: job.PlaceOfPair(pair[0], pair[1]),
		title:   fmt.Sprintf("Blocking %s send on %s, %s, from rank %d to rank %d", mode, machine.Name, job.Library.Name, pair[0], pair[1]),
		machine: machine, calibrated: job.Library, basis: basisSteps, names: names, call: call, transfer: transfer,
		predict: func(name string, k int) (reports.Prediction, error) {
			c := transfer(name, k).Cost()
			return reports.Prediction{Mode: call, Protocol: name, Bytes: k, SenderTime: reports.PredictedTime{Time: c.Sender.Sum()}, DeliveryTime: reports.PredictedTime{Time: c.Delivery.Sum()}, Terms: c}, nil
		},
	}, nil
}

// protocols returns the protocols to predict.
func (o PredictOptions) protocols() ([]string, error) {
	if o.Protocol == nil {
		return model.ProtocolNames(), nil
	}
	for _, p := range o.Protocol {
		if err := checkProtocol("Protocol", p); err != nil {
			return nil, err
		}
	}
	return o.Protocol, nil
}

// parameterSource returns a source for whole calls, or for protocols from parameters of low-level
// messages.
func (o PredictOptions) parameterSource() (predictionSource, error) {
	var none predictionSource
	if o.Ranks != 0 || o.Library != "" {
		return none, optionErrorf("Ranks, Library", "they are for a platform; parameters of messages do not depend on them")
	}
	if o.Mode != "" && o.Protocol != nil {
		return none, optionErrorf("Mode, Protocol", "parameters do not know by which protocol a call goes: leave out --protocol for calls, or --mode for low-level messages")
	}
	if o.Protocol == nil && o.Explain {
		return none, optionErrorf("Explain", "parameters do not know the steps of calls: name a protocol")
	}
	where, err := o.tier()
	if err != nil {
		return none, err
	}
	ps := params.ParametersOfPlace(o.Params.All, where.platform, where.library, where.place)
	if len(ps) == 0 {
		return none, optionErrorf("Place", "%s has no parameters of place %s", o.Params.From, where.place)
	}
	isMessage := func(x params.Parameter) bool { return x.Mode == microbench.LowLevelMode }
	first := ps[0]
	if i := slices.IndexFunc(ps, isMessage); i >= 0 && o.Protocol != nil {
		first = ps[i]
	}
	source := predictionSource{platform: first.Platform, library: first.Library, place: first.Place}
	if slices.Contains(platform.Names(), first.Platform) {
		known, err := platform.Load(first.Platform)
		if err != nil {
			return none, err
		}
		source.machine = known.Machine
	}
	selected := params.ParametersOfPlace(ps, first.Platform, first.Library, first.Place)
	if i := slices.IndexFunc(ps, func(x params.Parameter) bool { return x.Platform != first.Platform || x.Library != first.Library }); i >= 0 {
		source.warnings = append(source.warnings, fmt.Sprintf("%s also has parameters of %s, %s: only those of %s, %s are predicted", o.Params.From, ps[i].Platform, ps[i].Library, first.Platform, first.Library))
	}
	onlyMessages := o.Mode == "" && !slices.ContainsFunc(selected, func(x params.Parameter) bool { return x.Mode != "" && !isMessage(x) })
	if o.Protocol != nil || onlyMessages {
		if source.names, err = o.protocols(); err != nil {
			return none, err
		}
		err = source.useEquations(selected)
	} else {
		source.names = SendCalls[:]
		if o.Mode != "" {
			source.names = []string{o.Mode}
		}
		err = source.useRanges(selected)
	}
	if err != nil {
		return none, fmt.Errorf("predict from %s: %w", o.Params.From, err)
	}
	return source, nil
}

// useEquations predicts protocols from parameters of low-level messages.
func (s *predictionSource) useEquations(ps []params.Parameter) error {
	x, err := params.ModelParameters(ps, microbench.LowLevelMode)
	if err != nil {
		return err
	}
	s.basis, s.call = basisEquations, microbench.LowLevelMode
	s.title = fmt.Sprintf("Messages on %s, %s, %s, by equations (1) to (7)", s.platform, s.library, s.place)
	s.transfer = func(name string, k int) model.Transfer {
		m := &model.LogGP{L: max(0, x.L), SendOverhead: x.SendOverhead.Time(0), RecvOverhead: x.RecvOverhead.Time(0), Gap: x.Gap, GapPerByte: x.GapPerByte}
		return model.Transfer{Machine: &model.Machine{Name: s.platform, TimerResolution: 1, Network: m}, Protocol: model.FindProtocol(name), Bytes: k}
	}
	s.predict = func(name string, k int) (reports.Prediction, error) {
		protocol := model.FindProtocol(name)
		e := protocol.Equations()
		within, err := params.CheckProtocolEquationRange(ps, k)
		at := rangedTime(within, err).Position
		return reports.Prediction{
			Protocol: name, Bytes: k, SenderTime: reports.PredictedTime{Time: model.SenderTime(protocol, x, k), Position: at},
			DeliveryTime: reports.PredictedTime{Time: model.DeliveryTime(protocol, x, k), Position: at},
			EquationText: fmt.Sprintf("T_s = %v, T_s-r = %v", e.Sender, e.Delivery),
		}, err
	}
	return nil
}

// useRanges predicts the calls that have parameters, by ranges of sizes. It fails if no call has.
func (s *predictionSource) useRanges(ps []params.Parameter) error {
	times := func(call string, k int) (send, way params.Estimate, noSend, noWay error) {
		send, noSend = params.EstimateAt(ps, call, params.SendOverhead, k)
		way, noWay = params.EstimateOneWayTime(ps, call, k)
		return
	}
	var first error
	s.names = slices.DeleteFunc(slices.Clone(s.names), func(call string) bool {
		_, _, noSend, noWay := times(call, 0)
		missing := (*params.MissingParameterError)(nil)
		if noSend == nil || !errors.As(noWay, &missing) {
			return false
		}
		first = cmp.Or(first, noSend, noWay)
		return true
	})
	if len(s.names) == 0 {
		return first
	}
	s.basis = basisRanges
	s.title = fmt.Sprintf("Blocking calls on %s, %s, %s, by ranges of sizes", s.platform, s.library, s.place)
	s.predict = func(call string, k int) (reports.Prediction, error) {
		send, way, noSend, noWay := times(call, k)
		return reports.Prediction{
			Protocol: call, Bytes: k, SenderTime: rangedTime(send, noSend), DeliveryTime: rangedTime(way, noWay),
			EquationText: "o_s and T of the range that holds the size", IsOfCall: true,
		}, cmp.Or(noSend, noWay)
	}
	return nil
}

// rangedTime converts an estimate, or the error that there is none, to a prediction.
func rangedTime(e params.Estimate, err error) reports.PredictedTime {
	x := reports.PredictedTime{Time: unit.FromMicros(e.Value)}
	switch {
	case err != nil:
		return reports.PredictedTime{Position: reports.NotPredictable}
	case e.IsBetweenRanges:
		x.Position = reports.BetweenRanges
	case e.IsOutsideRanges:
		x.Position = reports.OutsideRanges
	case e.IsWeak:
		x.Position = reports.InsideWideInterval
	}
	return x
}

// parameterKey selects parameters; an empty field stands for any value.
type parameterKey struct{ platform, library, place string }

// tier returns the key of the parameters to use. For two ranks it is the tier found for them, on
// the first platform that has both.
func (o PredictOptions) tier() (parameterKey, error) {
	if !strings.Contains(o.Place, ",") {
		return parameterKey{place: o.Place}, nil
	}
	first, second, _ := strings.Cut(o.Place, ",")
	a, errA := strconv.Atoi(strings.TrimSpace(first))
	b, errB := strconv.Atoi(strings.TrimSpace(second))
	if errA != nil || errB != nil {
		return parameterKey{}, optionErrorf("Place", "%q is not two ranks, such as 0,3", o.Place)
	}
	if a == b {
		return parameterKey{}, &OptionError{"Place", o.Place, errors.New("a rank sends to another: name two")}
	}
	for _, t := range o.Params.Tiers {
		if place := t.Place(a, b); place != "" {
			return parameterKey{t.Platform, t.Library, place}, nil
		}
	}
	return parameterKey{}, &OptionError{"Place", o.Place, fmt.Errorf("%s does not say where these ranks are: name intra or inter, or fit samples of all pairs (loggp measure --pairs all), which tell", o.Params.From)}
}
