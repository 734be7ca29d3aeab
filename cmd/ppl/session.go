package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/model"
)

// session is a finished run, with all that its report needs.
type session struct {
	options     *runOptions
	loaded      *loaded
	fit         *fit.Fit
	interrupted bool
	timeUp      *timeLimitError // the cause, if --time-limit ended the run
	err         error           // error of fit.Sample
	kept        string          // name under which the fit is kept in memory

	warmup, sampling       time.Duration // wall-clock
	gradWarmup, gradSample int64
	divergences            int
	draws                  int // number of draws of all chains
	rejections             []infer.Rejection
}

func newSession(o *runOptions, l *loaded, fit *fit.Fit, interrupted bool, err error) *session {
	s := &session{options: o, loaded: l, fit: fit, interrupted: interrupted, err: err}
	var warm, samp time.Duration
	index := map[string]int{}
	for i, c := range fit.Report.Chains {
		warm += c.Warmup.Elapsed
		samp += c.Sampling.Elapsed
		s.gradWarmup += c.Warmup.Gradients
		s.gradSample += c.Sampling.Gradients
		s.divergences += c.Sampling.Divergences
		s.draws += fit.Draws.Len(i)
		for _, r := range c.Rejections {
			j, ok := index[r.Message]
			if !ok {
				j = len(s.rejections)
				index[r.Message] = j
				s.rejections = append(s.rejections, infer.Rejection{Message: r.Message})
			}
			s.rejections[j].Count += r.Count
		}
	}
	if both := warm + samp; both > 0 {
		s.warmup = time.Duration(float64(fit.Report.Elapsed) * float64(warm) / float64(both))
		s.sampling = fit.Report.Elapsed - s.warmup
	}
	return s
}

// report shows the run. The error that it returns determines the exit code.
func (s *session) report(stdout, stderr io.Writer) error {
	failures := s.failures()
	for _, err := range failures {
		showError(stderr, err)
	}
	code := error(nil)
	switch {
	case s.interrupted && s.timeUp == nil:
		code = exitCode(exitInterrupted)
	case s.interrupted && s.draws == 0:
		code = exitCode(exitError)
	case len(failures) > 0:
		code = exitCode(exitError)
	}
	if s.draws == 0 && code != nil {
		if s.interrupted && !s.options.json {
			printMessage(stderr, "There are no draws to summarise: the run %s before the first draw.", s.ending())
			printMessage(stderr, "%s", s.goesOn())
		}
		if !s.options.json {
			return code
		}
	}
	if s.options.json {
		s.fit.Precision() // first, since it shares work with the summary
	}
	if !s.options.quiet {
		s.remark(stderr)
	}
	var err error
	if s.options.json {
		j := s.asJSON(failures)
		if err := j.choose(s, &s.options.rows); err != nil {
			return err
		}
		err = writeJSON(stdout, j)
	} else {
		err = s.show(stdout)
	}
	if err == nil {
		err = s.fit.Draws.Err()
	}
	if err != nil {
		return fmt.Errorf("cannot write the summary: %w", err)
	}
	if code == nil {
		code = s.options.failOn.of(s.fit.Findings())
	}
	return code
}

// remark shows the choices of the samplers and the rejections by the model.
func (s *session) remark(stderr io.Writer) {
	if s.options.progress != "json" {
		s.showNotes(stderr)
		return
	}
	var rejections strings.Builder
	s.showRejections(&rejections)
	for _, r := range append(s.notes(), strings.TrimSpace(rejections.String())) {
		if r != "" {
			writeJSON(stderr, studyNote{r})
		}
	}
}

// goesOn says how to continue a run that ended in warm-up, or that nothing of it is kept.
func (s *session) goesOn() string {
	if s.options.out == "" {
		return "Nothing of it is kept. A run with --out FOLDER can be resumed."
	}
	states, _ := filepath.Glob(filepath.Join(escapedGlob(s.options.out), "*.state"))
	stays := earlierStays(s.options.out)
	if stays != "" {
		stays = "\n" + stays
	}
	if len(states) == 0 {
		return "Nothing of it is kept yet: chains save their state about twice a second, those that learn together (auto) from the end of warm-up on.\nThe same run begins anew with: ppl run --resume " + s.options.out + stays
	}
	return fmt.Sprintf("The state of %s is kept. The run goes on with: ppl run --resume %s%s",
		count(len(states), "chain", "chains"), s.options.out, stays)
}

// earlierStays says where to find the earlier run that this run was to replace; "" if there is
// none.
func earlierStays(out string) string {
	final := folder.Final(out)
	if final == out {
		return ""
	}
	return fmt.Sprintf("Until it is complete, the earlier run stays in %s.", final)
}

// escapedGlob returns a pattern that matches only the given path.
func escapedGlob(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// notes returns the notes of the samplers of the chains, each once.
func (s *session) notes() []string {
	var notes []string
	for _, c := range s.fit.Report.Chains {
		for _, note := range c.Notes {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// failures returns the errors of the run, without its interruption. If several chains have the same
// error, it is returned once.
func (s *session) failures() []error {
	all := apart(nil, s.err)
	id := func(err error) int {
		var c *infer.ChainError
		if errors.As(err, &c) {
			return c.ID
		}
		return 0
	}
	sorting.Stable(all, func(a, b error) int { return id(a) - id(b) })
	type failure struct {
		key    string
		chains []string
		err    *infer.ChainError
	}
	var failed []*failure
	var out []error
	for _, err := range all {
		if _, ok := err.(*fit.InterruptedError); ok {
			continue
		}
		var c *infer.ChainError
		if !errors.As(err, &c) {
			out = append(out, err)
			continue
		}
		key := c.Phase + c.Err.Error()
		if list := model.Diagnostics(err); list != nil { // chains have other numbers in messages
			key = fmt.Sprint(c.Phase, list[0].Span.Begin())
		}
		i := slices.IndexFunc(failed, func(f *failure) bool { return f.key == key })
		if i < 0 {
			i = len(failed)
			failed = append(failed, &failure{key: key, err: c})
		}
		failed[i].chains = append(failed[i].chains, strconv.Itoa(c.ID))
	}
	for _, f := range failed {
		if len(f.chains) == 1 {
			out = append(out, f.err)
		} else {
			out = append(out, fmt.Errorf("chains %s: %w", strings.Join(f.chains, ", "), f.err.Err))
		}
	}
	return out
}

// apart appends err to list. If err joins several errors, it appends each of them.
func apart(list []error, err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			list = apart(list, e)
		}
		return list
	}
	if err == nil {
		return list
	}
	return append(list, err)
}

// showRejections reports the rejections by the model, most of which are harmless.
func (s *session) showRejections(w io.Writer) {
	if len(s.rejections) == 0 {
		return
	}
	total := 0
	for _, c := range s.fit.Report.Chains {
		total += c.Rejected
	}
	printMessage(w, "The model rejected %d of %d evaluations (harmless if few):", total, s.gradWarmup+s.gradSample)
	groups := groupRejections(s.rejections)
	listed := 0
	for i, g := range groups {
		if i == 5 {
			break
		}
		example := ""
		if g.messages > 1 {
			example = "e.g. "
		}
		listed += g.count
		printMessage(w, "  %d × %s%s", g.count, example, strings.ReplaceAll(g.message, "\n", "\n      "))
		if g.advice != "" {
			printMessage(w, "      %s", g.advice)
		}
	}
	if listed < total {
		printMessage(w, "  … and %d with other messages", total-listed)
	}
}

// interruption describes the completed part of an interrupted run.
func (s *session) interruption() string {
	cfg := s.fit.Config()
	text := fmt.Sprintf("The run %s: there are %d of %d draws.", s.ending(), s.draws, cfg.Chains*((cfg.Draws+cfg.Thin-1)/cfg.Thin))
	if s.options.out != "" {
		text += fmt.Sprintf(" It goes on with: ppl run --resume %s", s.options.out)
		if stays := earlierStays(s.options.out); stays != "" {
			text += ". " + stays
		}
	}
	return text
}

// ending returns the words for how an interrupted run ended.
func (s *session) ending() string {
	if s.timeUp != nil {
		return fmt.Sprintf("has reached its time limit of %s", s.timeUp.limit)
	}
	return "was interrupted"
}

// inexact returns a remark if a run could not be resumed exactly.
func (s *session) inexact() string {
	for _, c := range s.fit.Report.Chains {
		if c.Inexact {
			return "The log density is not, to the last digit, what it was when the run was stopped (another processor?): the draws from there on are valid, but not those that the run would have made."
		}
	}
	if own := "ppl " + model.Version(); s.options.begunBy != "" && s.options.begunBy != own {
		return fmt.Sprintf("The run was begun by %s and has gone on with %s: the draws from there on are valid, but may not be those that the run would have made.", s.options.begunBy, own)
	}
	return ""
}

// salvaged describes what was lost of a run whose files were damaged.
func (s *session) salvaged() []string {
	var said []string
	for _, c := range s.fit.SetBack {
		how := "it has started anew"
		if c.Snapshot != nil {
			how = fmt.Sprintf("it has gone on after draw %d", c.Kept)
		}
		said = append(said, fmt.Sprintf("The last state of chain %d was not whole, as after a loss of power: %s. No draw is lost.", c.ID, how))
	}
	for _, c := range s.fit.Salvaged {
		text := fmt.Sprintf("The files of chain %d were damaged: ", c.ID)
		switch {
		case c.Snapshot == nil:
			text += "it has started anew and makes the same draws again; none is lost."
		case c.Lost == nil:
			text += fmt.Sprintf("it has gone on after draw %d; none is lost.", c.Kept)
		default:
			n := 0
			for _, r := range c.Lost {
				n += r.Len()
			}
			text += fmt.Sprintf("%s lost, the first is draw %d.", count(n, "draw is", "draws are"), c.Lost[0].From)
		}
		said = append(said, text)
	}
	return said
}

// reached returns a remark on whether the target of the effective sample size was reached.
func (s *session) reached() string {
	if s.options.targetESS == 0 {
		return ""
	}
	if n := s.fit.Report.Enough; n > 0 {
		return fmt.Sprintf("The effective sample sizes have reached %v after %d draws per chain.", s.options.targetESS, n)
	}
	if s.interrupted {
		return ""
	}
	return fmt.Sprintf("The effective sample sizes have not all reached %v, or R-hat 1.01, with the largest number of draws.", s.options.targetESS)
}
