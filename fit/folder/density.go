package folder

// Density is the result of comparing the compiled log density of a run with the reference
// evaluator, which runs the program statement by statement.
type Density struct {
	Points int     `json:"points"` // number of points at which log densities were compared
	Slopes int     `json:"slopes"` // number of points at which gradients were also compared, along a direction
	Share  float64 `json:"share"`  // share of the statements that were compared; 1 means all
	Excess float64 `json:"excess"` // the largest difference, in units of what rounding explains
	// Seconds is the time that the comparisons took.
	Seconds float64 `json:"seconds"`
	// Reason says why less than all was compared; "" if all was.
	Reason string `json:"reason,omitempty"`
	// Outputs is what came of comparing transformed parameters and generated quantities; nil if
	// they were not.
	Outputs *OutputCheck `json:"outputs,omitempty"`
	// Wrong are the points where the two disagree, and what was done about it.
	Wrong []WrongDensity `json:"wrong,omitempty"`
}

// OutputCheck is a comparison of the outputs of draws.
type OutputCheck struct {
	Points   int `json:"points"`   // number of draws whose outputs were compared
	Compared int `json:"compared"` // number of outputs compared per draw
	// Drawn is the number of those that were not, since they depend on random draws, which the two
	// make in different orders.
	Drawn int `json:"drawn"`
	// Reason says why none was compared; "" if some were.
	Reason string `json:"reason,omitempty"`
}

// WrongDensity is a point at which a compiled program computes another log density, or another
// gradient or output, than the reference evaluator.
type WrongDensity struct {
	// that is wrong: DensityValue, DensityGradient, DensityOutput, DensityRejection or
	// DensityRefusal
	What string `json:"what"`
	Name string `json:"name,omitempty"` // name of the output
	// before the first draw, at the end of warm-up, at the end of a chain
	When      string    `json:"when"`
	Compiled  float64   `json:"compiled"`            // compiled log density, or its slope along direction
	Reference float64   `json:"reference"`           // value of the reference evaluator
	Tolerance float64   `json:"tolerance"`           // difference that rounding explains
	Point     []float64 `json:"point"`               // unconstrained point
	Direction []float64 `json:"direction,omitempty"` // direction of the slopes
	Message   string    `json:"message,omitempty"`   // message of the one that rejects the point

	// of the compiler, without which the program is right; "": none alone
	Pass    string `json:"pass,omitempty"`
	Instead string `json:"instead"` // program that made the draws instead
	Begun   bool   `json:"begun"`   // whether draws had been made and were discarded
}

// What can be wrong.
const (
	DensityValue     = "log density"
	DensityGradient  = "gradient"
	DensityOutput    = "output"    // a transformed parameter or generated quantity
	DensityRejection = "rejection" // by the reference alone
	DensityRefusal   = "refusal"   // by the compiled program alone
)

// Together combines the comparisons of several runs of one program. It ignores nil ones, and
// returns nil if there are no others.
func Together(runs []*Density) *Density {
	var all *Density
	for _, d := range runs {
		switch {
		case d == nil:
			continue
		case all == nil:
			all = &Density{Share: d.Share}
		}
		all.Points, all.Slopes, all.Seconds = all.Points+d.Points, all.Slopes+d.Slopes, all.Seconds+d.Seconds
		all.Excess = max(all.Excess, d.Excess)
		// The program is the same, so one full comparison counts for all.
		if all.Share = max(all.Share, d.Share); all.Share < 1 {
			all.Reason = d.Reason
		} else {
			all.Reason = ""
		}
		if o := d.Outputs; o != nil {
			if all.Outputs == nil {
				all.Outputs = &OutputCheck{}
			}
			all.Outputs.Add(*o)
		}
		all.Wrong = append(all.Wrong, d.Wrong...)
	}
	return all
}

// Add adds another comparison of outputs of the same program.
func (o *OutputCheck) Add(more OutputCheck) {
	o.Points += more.Points
	o.Compared, o.Drawn = max(o.Compared, more.Compared), max(o.Drawn, more.Drawn)
	if o.Reason == "" {
		o.Reason = more.Reason
	}
	if o.Points > 0 {
		o.Reason = ""
	}
}
