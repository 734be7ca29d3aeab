package auto

import (
	"fmt"
	"slices"
)

// Threshold is a number that determines a decision of the algorithm.
type Threshold struct {
	Name    string
	Value   float64
	Unit    string
	File    string // first file that uses it
	Decides string

	// Effect describes what changed when the threshold was halved and doubled, as measured by
	// internal/cmd/truth; "" if it was not measured.
	Effect string

	at func(*limits) *float64
}

// Thresholds returns the table of all thresholds. The page doc/evidence/auto-thresholds.md shows
// it; a test compares the two. Numbers that only limit rounding errors or work are constants where
// they are used.
func Thresholds() []Threshold {
	return []Threshold{
		{"roundGrowth", 0.5, "ratio minus 1", "rounds.go", "length of a round of warm-up over that of the one before", "½: 10 runs of 10 differ, gradients ×0.91, ESS ×0.95; 2: 10 runs of 10 differ, gradients ×1.07, ESS ×1.03", func(l *limits) *float64 { return &l.roundGrowth }},
		{"minRounds", 5, "rounds", "pool.go", "warm-up of a target that is not close to normal has at least so many", "½: 7 runs of 10 differ, gradients ×0.97, ESS ×0.89; 2: 9 runs of 10 differ, gradients ×0.67, ESS ×0.27, 0 better and 2 worse", func(l *limits) *float64 { return &l.minRounds }},
		{"apart", 1.5, "R-hat", "rounds.go", "chains are in different places", "½: 8 runs of 10 differ, gradients ×0.61, ESS ×0.55; 2: 2 runs of 10 differ, gradients ×0.93, ESS ×0.97", func(l *limits) *float64 { return &l.apart }},
		{"settledStep", 0.5, "log ratio", "pool.go", "warm-up may end when the step size changes by less", "½: 2 runs of 10 differ, gradients ×1.01, ESS ×0.87; 2: no change", func(l *limits) *float64 { return &l.settledStep }},
		{"settledRhat", 0.05, "R-hat minus 1", "pool.go", "warm-up may end below it, plus 4 over the draws of a chain", "½: 1 runs of 10 differ, gradients ×0.96, ESS ×0.97; 2: 1 runs of 10 differ, gradients ×1.05, ESS ×1.04", func(l *limits) *float64 { return &l.settledRhat }},
		{"neckMargin", 5, "nats", "start.go", "a climb that has lost so much mass has ended in a neck", "½: 2 runs of 10 differ, gradients ×1.06, ESS ×1.00; 2: no change", func(l *limits) *float64 { return &l.neckMargin }},
		{"neckPerDim", 0.1, "nats per dimension", "start.go", "added to neckMargin", "no change", func(l *limits) *float64 { return &l.neckPerDim }},
		{"flatter", 0.2, "ratio", "start.go", "a climb is examined for a neck if one of its steps saw less of the curvature at the end", "½: 2 runs of 10 differ, gradients ×1.00, ESS ×1.00; 2: 4 runs of 10 differ, gradients ×1.00, ESS ×1.00", func(l *limits) *float64 { return &l.flatter }},
		{"searched", 128, "climbs", "modes.go", "climbs of all chains together, as far as shareOfSearch allows; of a basin of one twentieth 32 miss one time in five, 128 one in 700", "32: of 1334 runs with modes within reach 2 missed one", func(l *limits) *float64 { return &l.searched }},
		{"shareOfSearch", 0.05, "share of gradients", "modes.go", "gradients of the search in a cheap run, while one mode is known", "½: 1 runs of 10 differ, gradients ×1.00, ESS ×1.00; 2: no change", func(l *limits) *float64 { return &l.shareOfSearch }},
		{"maxSearchGrowth", 4, "ratio", "modes.go", "gradients of the search where several modes are known, over those where one is", "no change", func(l *limits) *float64 { return &l.maxSearchGrowth }},
		{"margin", 12, "nats", "modes.go", "a mode whose normal approximation has so much less mass than the largest does not matter", "no change", func(l *limits) *float64 { return &l.margin }},
		{"marginPerDim", 0.1, "nats per dimension", "modes.go", "added to margin", "no change", func(l *limits) *float64 { return &l.marginPerDim }},
		{"surprise", 2, "nats", "modes.go", "a place so far above what a normal approximation promises is another mode", "no change", func(l *limits) *float64 { return &l.surprise }},
		{"slack", 0.5, "nats", "modes.go", "a climb has reached a known mode if the log density is so close to the approximation's", "½: 6 runs of 10 differ, gradients ×1.01, ESS ×1.04; 2: 6 runs of 10 differ, gradients ×1.00, ESS ×1.00", func(l *limits) *float64 { return &l.slack }},
		{"slackShare", 0.1, "ratio", "modes.go", "added to slack, times half the squared distance", "½: 6 runs of 10 differ, gradients ×1.00, ESS ×1.00; 2: 6 runs of 10 differ, gradients ×1.00, ESS ×1.00", func(l *limits) *float64 { return &l.slackShare }},
		{"barrier", 1, "nats", "modes.go", "log density falls by so much between two local maxima", "no change", func(l *limits) *float64 { return &l.barrier }},
		{"otherScale", 3, "ratio per dimension", "modes.go", "two parts with one centre are two modes if their scales differ by more", "½: 1 runs of 10 differ, gradients ×0.99, ESS ×1.01; 2: 1 runs of 10 differ, gradients ×1.01, ESS ×1.01", func(l *limits) *float64 { return &l.otherScale }},
		{"dip", 1, "nats", "modes.go", "the mass of shells falls by so much between two scales", "3: 2 of 40 runs of concentric targets wrong in silence, not 0; of 128 runs with one mode 6 warned with either", func(l *limits) *float64 { return &l.dip }},
		{"trailing", 100, "nats", "modes.go", "a chain without a mode that is so far below the others begins from other points", "no change", func(l *limits) *float64 { return &l.trailing }},
		{"trailingPerDim", 10, "nats per dimension", "modes.go", "added to trailing", "no change", func(l *limits) *float64 { return &l.trailingPerDim }},
		{"farBelow", 10, "nats, and quartile distances", "health.go", "a chain so far below the best one, in density times volume, is useless for learning", "no change", func(l *limits) *float64 { return &l.farBelow }},
		{"stuck", 0.5, "share of transitions", "health.go", "a chain that diverges more often is useless, if others diverge less often than moving", "no change", func(l *limits) *float64 { return &l.stuck }},
		{"moving", 0.2, "share of transitions", "health.go", "see stuck", "no change", func(l *limits) *float64 { return &l.moving }},
		{"patience", 2, "rounds", "health.go", "a chain that is useless so long after its restart is dropped", "no change", func(l *limits) *float64 { return &l.patience }},
		{"flat", 0.1, "ratio", "plateau.go", "a chain on a plateau is not learnt from: the variance of a coordinate times that of its score is less; in a mode at least 1", "", func(l *limits) *float64 { return &l.flat }},
		{"level", 1e-4, "ratio", "plateau.go", "below it, a chain on a plateau begins again", "", func(l *limits) *float64 { return &l.level }},
		{"nearlyNormal", 0.1, "Fisher divergence", "metric.go", "a target whose best metric has less is normal in some coordinates", "½: no change; 2: 2 runs of 10 differ, gradients ×0.84, ESS ×0.82, 0 better and 1 worse", func(l *limits) *float64 { return &l.nearlyNormal }},
		{"worthWaiting", 0.5, "Fisher divergence", "metric.go", "warm-up waits for draws enough for a dense metric if the best one is worse by more", "no change", func(l *limits) *float64 { return &l.worthWaiting }},
		{"worthTrying", 0.02, "Fisher divergence", "metric.go", "a costly metric is tried if the best cheap one is worse by more", "no change", func(l *limits) *float64 { return &l.worthTrying }},
		{"muchBetter", 0.5, "ratio", "metric.go", "the metric in use stays if the divergence of the best new one exceeds its own by the inverse", "½: 2 runs of 10 differ, gradients ×1.01, ESS ×1.02; 2: 3 runs of 10 differ, gradients ×1.07, ESS ×1.06", func(l *limits) *float64 { return &l.muchBetter }},
		{"hopeless", 5, "Fisher divergence", "metric.go", "above it scores mislead, and the variance of the draws is the metric", "½: 1 runs of 10 differ, gradients ×0.92, ESS ×0.99; 2: 1 runs of 10 differ, gradients ×0.87, ESS ×0.84", func(l *limits) *float64 { return &l.hopeless }},
		{"trustDraws", 100, "draws", "metric.go", "from so many draws on, coordinates of a target far from normal have the variance of the draws", "½: 6 runs of 10 differ, gradients ×0.87, ESS ×0.87, 0 better and 1 worse; 2: 8 runs of 10 differ, gradients ×0.83, ESS ×0.95", func(l *limits) *float64 { return &l.trustDraws }},
		{"below", 5, "nats, and quartile distances", "pool.go", "draws so far below the median are not learnt from", "½: 7 runs of 10 differ, gradients ×0.94, ESS ×0.94; 2: no change", func(l *limits) *float64 { return &l.below }},
		{"maxWorse", 1.1, "ratio", "pool.go", "coordinates of effects that were learnt may have so much more divergence than those in use", "no change", func(l *limits) *float64 { return &l.maxWorse }},
		{"poorCoordinates", 1, "Fisher divergence", "pool.go", "above it non-centred effects are tried again", "no change", func(l *limits) *float64 { return &l.poorCoordinates }},
		{"vanishing", -0.6, "skewness", "recentre.go", "the logarithm of a scale that may be 0 has less", "no change", func(l *limits) *float64 { return &l.vanishing }},
		{"farApart", 2, "standard deviations", "masses.go", "chains whose means differ by more are compared", "½: no change; 2: 1 runs of 10 differ, gradients ×1.00, ESS ×1.00", func(l *limits) *float64 { return &l.farApart }},
		{"massBarrier", 5, "nats", "masses.go", "the mass of a normal distribution led from one mode to another falls by more", "½: no change; 2: 1 runs of 10 differ, gradients ×0.83, ESS ×0.55, 0 better and 1 worse", func(l *limits) *float64 { return &l.massBarrier }},
		{"smallMass", 0.01, "share", "masses.go", "a mode without draws is reported if its estimated mass is larger", "no change", func(l *limits) *float64 { return &l.smallMass }},
		{"fewVisits", 0.5, "ratio", "masses.go", "warm-up has left a mode if so little of its mass is in the draws", "0 for 0.5: 7 of 40 runs of concentric-1-2 wrong in silence, not 0", func(l *limits) *float64 { return &l.fewVisits }},
		{"maxTempered", 2e6, "gradients", "temper.go", "tempering is given up if the draws of a chain would take more", "no change", func(l *limits) *float64 { return &l.maxTempered }},
		{"minScans", 200, "transitions", "temper.go", "tempering needs so many of warm-up", "no change", func(l *limits) *float64 { return &l.minScans }},
		{"nearNormal", 0.1, "Fisher divergence·√d", "race.go", "trajectories of fixed length are tried below it", "½: no change; 2: 1 runs of 10 differ, gradients ×0.98, ESS ×1.00", func(l *limits) *float64 { return &l.nearNormal }},
		{"advantage", 1.15, "ratio", "race.go", "a static kernel must be worth so much more than NUTS", "no change", func(l *limits) *float64 { return &l.advantage }},
		{"minAccept", 0.4, "mean acceptance", "race.go", "a static kernel needs it in every chain", "no change", func(l *limits) *float64 { return &l.minAccept }},
		{"tailAccept", 0.4, "mean acceptance", "race.go", "a static kernel needs it in the tails", "no change", func(l *limits) *float64 { return &l.tailAccept }},
		{"wanted", 0.5, "effective draws", "spare.go", "a draw is made of so many transitions that it is worth them", "½: 6 runs of 10 differ, gradients ×0.71, ESS ×0.76; 2: 6 runs of 10 differ, gradients ×1.38, ESS ×1.18", func(l *limits) *float64 { return &l.wanted }},
		{"maxPerDraw", 8, "transitions", "spare.go", "a draw is made of so many at most", "½: 2 runs of 10 differ, gradients ×0.90, ESS ×0.83; 2: 1 runs of 10 differ, gradients ×1.06, ESS ×1.07", func(l *limits) *float64 { return &l.maxPerDraw }},
	}
}

// limits has the values of the thresholds in a run.
type limits struct {
	roundGrowth     float64
	minRounds       float64
	apart           float64
	settledStep     float64
	settledRhat     float64
	neckMargin      float64
	neckPerDim      float64
	flatter         float64
	searched        float64
	shareOfSearch   float64
	maxSearchGrowth float64
	margin          float64
	marginPerDim    float64
	surprise        float64
	slack           float64
	slackShare      float64
	barrier         float64
	otherScale      float64
	dip             float64
	trailing        float64
	trailingPerDim  float64
	farBelow        float64
	stuck           float64
	moving          float64
	patience        float64
	flat            float64
	level           float64
	nearlyNormal    float64
	worthWaiting    float64
	worthTrying     float64
	muchBetter      float64
	hopeless        float64
	trustDraws      float64
	below           float64
	maxWorse        float64
	poorCoordinates float64
	vanishing       float64
	farApart        float64
	massBarrier     float64
	smallMass       float64
	fewVisits       float64
	maxTempered     float64
	minScans        float64
	nearNormal      float64
	advantage       float64
	minAccept       float64
	tailAccept      float64
	wanted          float64
	maxPerDraw      float64
}

// limits returns the values of the table. The one that the options name is multiplied by Factor.
func (s Sampler) limits() *limits {
	l := &limits{}
	for _, t := range Thresholds() {
		*t.at(l) = t.Value
		if t.Name == s.Threshold {
			*t.at(l) *= s.Factor
		}
	}
	return l
}

// checkThreshold returns an error if the options that scale a threshold are invalid.
func (s Sampler) checkThreshold() error {
	known := slices.ContainsFunc(Thresholds(), func(t Threshold) bool { return t.Name == s.Threshold })
	if s.Threshold != "" && (!known || !(s.Factor > 0)) {
		return fmt.Errorf("auto: threshold %q with factor %v: the name must be one of the table, and the factor positive", s.Threshold, s.Factor)
	}
	return nil
}
