package fit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/tempered"
)

// This file makes findings from the events of a run.

// reportedEvent is an event with its chain.
type reportedEvent struct {
	infer.Event
	chain infer.ChainReport
	draws int // number of draws of the chain
}

// eventAdvice is advice with the options that it names, see [diagnose.Finding].
type eventAdvice struct {
	first    string
	text     string
	settings []string
}

// eventFindings has a row for each code of events that leads to a finding, which has the same code.
// An empty summary means that there is no finding.
var eventFindings = []struct {
	code     string
	severity diagnose.Severity
	summary  func(events []reportedEvent, rows []diagnose.Row) string
	brief    func(events []reportedEvent) string
	advice   eventAdvice

	// harmless, if not nil, reports whether the finding is only a note. The note has the advice
	// ofNote.
	harmless func(events []reportedEvent, rows []diagnose.Row) bool
	ofNote   eventAdvice
}{
	{infer.EventModes, diagnose.Problem, modesText,
		func(events []reportedEvent) string {
			return fmt.Sprintf("The posterior has %s modes", strings.ToLower(counted(int(events[0].Figures["modes"]))))
		},
		eventAdvice{"rule some out, or temper the run", "The chains do not move between these modes, so the pooled draws do not have the right share of each. Do not use them. Run the model with parallel tempering, which moves between modes. Or rule out modes that you do not mean: order the components of a mixture, or restrict the sign of a loading.", []string{"sampler=tempered"}},
		tempersWell,
		eventAdvice{"order the parameters if the modes mirror each other", "The chains did not move between the modes, so ppl used parallel tempering. Its draws have the right share of each mode. If the modes mirror each other, order or restrict the parameters: means and intervals are then meaningful, and sampling is faster.", nil}},
	{infer.EventModes, diagnose.Problem, missedText,
		func([]reportedEvent) string { return "The draws have too little of a mode that the search found" },
		eventAdvice{"take more draws and a longer warm-up", "Parallel tempering hardly reached a mode that the search had found. The draws have too little of it, and results that depend on it are wrong. Take more draws and a longer warm-up: both give replicas more chances to reach it.", []string{"warmup", "draws"}},
		nil, eventAdvice{}},
	{infer.EventLegs, diagnose.Problem, legsText,
		func([]reportedEvent) string { return "Estimates of log Z by parallel tempering disagree" },
		eventAdvice{"lengthen the warm-up", "One of them, or some of the chains, missed a part of the posterior, so the shares of modes and log Z may be wrong. Lengthen the warm-up, search from more starting points, or give initial values in the modes that you know.", []string{"warmup", "starts", "init"}},
		nil, eventAdvice{}},
	{infer.EventDropped, diagnose.Problem, func(events []reportedEvent, _ []diagnose.Row) string {
		return fmt.Sprintf("%s stuck or far from the others, and again after a restart. Adaptation ignored %s, but the summary includes the draws.",
			chainsAre(events), plural(len(events), "it", "them"))
	}, func(events []reportedEvent) string { return chainsAre(events) + " stuck or far from the others" },
		eventAdvice{"look at where they are, or give initial values", "The summary mixes draws that do not belong together. Look at where these chains are, tighten the priors, or give initial values.", []string{"init"}},
		func(_ []reportedEvent, rows []diagnose.Row) bool { return agree(rows) },
		eventAdvice{"the chains agree in the end", "The chains agree in the end, as R-hat shows.", nil}},
	{infer.EventUnsettled, diagnose.Problem, func(events []reportedEvent, _ []diagnose.Row) string {
		e := events[0]
		text := fmt.Sprintf("Warm-up has not settled: R-hat is up to %.2f in its later half", e.Figures["rhat"])
		if percent := 100 * e.Figures["divergent"]; percent >= 0.05 {
			text += fmt.Sprintf(", and %.1f %% of its last transitions diverge", percent)
		}
		return text + "."
	}, func(events []reportedEvent) string {
		return fmt.Sprintf("Warm-up has not settled (R-hat up to %.2f)", events[0].Figures["rhat"])
	}, eventAdvice{"lengthen the warm-up", "Metric and step size are still changing. Lengthen the warm-up, or reparametrise.", []string{"warmup"}},
		func(_ []reportedEvent, rows []diagnose.Row) bool { return agree(rows) },
		eventAdvice{"harmless, but a longer one may save time", "The chains agree in the end, as R-hat shows; a longer warm-up may make sampling faster.", []string{"warmup"}}},
	{infer.EventRestart, diagnose.Note, func(events []reportedEvent, _ []diagnose.Row) string {
		return fmt.Sprintf("%s stuck or far from the others in warm-up, and started again from a random point.", chainsAre(events))
	}, func(events []reportedEvent) string {
		return strings.TrimSuffix(strings.TrimSuffix(chainsAre(events), " were"), " was") + " restarted in warm-up"
	}, eventAdvice{"harmless without other problems", "This is harmless if there are no other problems. A chain that restarts in every run may have found a mode or a narrow region that the others missed.", nil}, nil, eventAdvice{}},
}

// agree reports whether the chains agree: no R-hat is too large.
func agree(rows []diagnose.Row) bool {
	return !slices.ContainsFunc(rows, func(r diagnose.Row) bool { return r.Rhat > 1.01 })
}

// minRestarts is the minimum number of restarts, over all chains, for a reliable tempered run. A
// restart is the arrival at the target of a replica that has been at a reference.
const minRestarts = 100

// missed is the minimum share of a mode in tempered draws, as a fraction of the mode's estimated
// mass. Below it, the draws lack the mode.
const missed = 0.25

// lacksMode reports whether the run was tempered and its draws lack most of a mode's estimated
// mass.
func lacksMode(events []reportedEvent) bool {
	figures := events[0].Figures
	for i, share := range sharesOf(events) {
		mass := figures[fmt.Sprint("mass_", i+1)] - 2*figures[fmt.Sprint("error_", i+1)]
		if figures["tempered"] != 0 && share < missed*mass {
			return true
		}
	}
	return false
}

// tempersWell reports whether the run was tempered with enough restarts.
func tempersWell(events []reportedEvent, rows []diagnose.Row) bool {
	restarts := 0.0
	for _, e := range events {
		if e.Figures["tempered"] == 0 {
			return false
		}
		restarts += e.Figures["restarts"]
	}
	return agree(rows) && restarts >= minRestarts
}

// sharesOf returns the share of all draws in each mode.
func sharesOf(events []reportedEvent) []float64 {
	shares, draws := make([]float64, int(events[0].Figures["modes"])), 0.0
	for _, e := range events {
		n := float64(e.draws)
		draws += n
		for i := range shares {
			shares[i] += n * e.Figures[fmt.Sprint("share_", i+1)]
		}
	}
	for i := range shares {
		shares[i] /= max(draws, 1)
	}
	return shares
}

// chainsAre names the chains of events: "Chain 2 was", "Chains 1 and 3 were".
func chainsAre(events []reportedEvent) string {
	var ids []string
	for _, e := range events {
		if id := strconv.Itoa(e.chain.ID); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 1 {
		return "Chain " + ids[0] + " was"
	}
	return "Chains " + strings.Join(ids[:len(ids)-1], ", ") + " and " + ids[len(ids)-1] + " were"
}

// The largest differences between estimates of log Z: in standard errors, and absolute. A part with
// 5 % of the mass changes log Z by about legsMin.
const (
	legsErrors = 5
	legsMin    = 0.05
)

// legsText reports a disagreement between estimates of the normalising constant: first between the
// two legs of the tempered chains (from the fitted and from the broad reference to the target),
// then between the chains.
func legsText(events []reportedEvent, _ []diagnose.Row) string {
	var kernels []map[string]float64
	for _, e := range events {
		kernels = append(kernels, e.Figures)
	}
	apart := func(a, b tempered.Evidence) bool {
		off := math.Abs(a.LogZ - b.LogZ)
		return off > legsMin && off > legsErrors*math.Hypot(a.Error, b.Error)
	}
	fitted, broad := tempered.EvidenceOf(kernels)
	if apart(fitted, broad) {
		return fmt.Sprintf("The two references of parallel tempering disagree: log Z is %.2f ± %.2f by the fitted one and %.2f ± %.2f by the broad one.",
			fitted.LogZ, fitted.Error, broad.LogZ, broad.Error)
	}
	for i, e := range events {
		one, _ := tempered.EvidenceOf(kernels[i : i+1])
		for j := range i {
			other, _ := tempered.EvidenceOf(kernels[j : j+1])
			if apart(one, other) {
				return fmt.Sprintf("Chains of parallel tempering disagree: log Z is %.2f ± %.2f in chain %d and %.2f ± %.2f in chain %d.",
					other.LogZ, other.Error, events[j].chain.ID, one.LogZ, one.Error, e.chain.ID)
			}
		}
	}
	return ""
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// fromEvents returns the findings from the events of the chains.
func (f *Fit) fromEvents(rows []diagnose.Row) []diagnose.Finding {
	var findings []diagnose.Finding
	for _, row := range eventFindings {
		var events []reportedEvent
		for i, c := range f.Report.Chains {
			for _, e := range c.Events {
				if e.Code == row.code {
					n := 0
					if i < f.Draws.Chains() {
						n = f.Draws.Len(i)
					}
					events = append(events, reportedEvent{e, c, n})
				}
			}
		}
		if events == nil {
			continue
		}
		if summary := row.summary(events, rows); summary != "" {
			severity, advice := row.severity, row.advice
			if row.harmless != nil && row.harmless(events, rows) {
				severity, advice = diagnose.Note, row.ofNote
			}
			findings = append(findings, diagnose.Finding{Code: row.code, Severity: severity, Summary: summary, Brief: row.brief(events), First: advice.first, Advice: advice.text, Settings: advice.settings})
		}
	}
	return findings
}

// enoughMoves is the minimum number of moves between modes, for each mode and over all chains, at
// which R-hat and effective sample sizes are evidence that the shares of the modes are right.
const enoughMoves = 20

// modesText describes the modes and the share of draws in each.
func modesText(events []reportedEvent, rows []diagnose.Row) string {
	if lacksMode(events) {
		return ""
	}
	return massesText(events, rows)
}

// missedText describes the modes if tempered draws lack one.
func missedText(events []reportedEvent, rows []diagnose.Row) string {
	if !lacksMode(events) {
		return ""
	}
	return massesText(events, rows)
}

func massesText(events []reportedEvent, rows []diagnose.Row) string {
	figures := events[0].Figures
	k := int(figures["modes"])
	if k < 2 {
		return ""
	}
	shares, draws, moves := sharesOf(events), 0, 0.0
	for _, e := range events {
		draws += e.draws
		moves += e.Figures["moves"]
	}
	if draws == 0 || figures["tempered"] == 0 && agree(rows) && moves >= enoughMoves*float64(k) {
		return ""
	}
	var masses, have []string
	for i := range shares {
		mass := probability(figures[fmt.Sprint("mass_", i+1)])
		switch {
		case figures[fmt.Sprint("laplace_", i+1)] != 0:
			mass += " (by importance sampling)"
		case figures[fmt.Sprint("error_", i+1)] > 0.005:
			mass += fmt.Sprintf(" ± %.2g", math.Ceil(100*figures[fmt.Sprint("error_", i+1)])/100)
		}
		masses = append(masses, mass)
		have = append(have, probability(shares[i]))
	}
	text := fmt.Sprintf("%s modes, with estimated masses %s; your draws have %s.", counted(k), list(masses), list(have))
	return text
}

// probability formats a share with enough digits to distinguish it from 0 and 1.
func probability(p float64) string {
	switch {
	case p > 0 && p < 0.001:
		return "less than 0.001"
	case p > 0 && p < 0.01 || p > 0.99 && p < 1:
		return strconv.FormatFloat(p, 'f', 3, 64)
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

// counted formats a number at the beginning of a sentence.
func counted(n int) string {
	names := []string{2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six"}
	if n < len(names) && n >= 2 {
		return names[n]
	}
	return strconv.Itoa(n)
}

// list joins texts as "a, b and c".
func list(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}
