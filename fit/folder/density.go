package folder

// Density is the result of comparing the compiled log density of a run with the reference
// evaluator, which runs the program statement by statement.
type Density struct {
	Points int     `json:"points"` // number of points at which log densities were compared
	Slopes int     `json:"slopes"` // number of points at which gradients were also compared, along a direction
	Share  float64 `json:"share"`  // share of the statements that were compared; 1 means all
	Excess float64 `json:"excess"` // largest difference, in multiples of what rounding explains
	// Seconds is the time that the comparisons took.
	Seconds float64 `json:"seconds"`
	// Reason is why only a part was compared; "" if everything was.
	Reason string `json:"reason,omitempty"`
	// Outputs is the comparison of transformed parameters and generated quantities; nil if there
	// was none.
	Outputs *OutputCheck `json:"outputs,omitempty"`
	// Wrong are the points where the two disagree, and how the run continued.
	Wrong []WrongDensity `json:"wrong,omitempty"`
}

// OutputCheck is a comparison of the outputs of draws.
type OutputCheck struct {
	Points   int `json:"points"`   // number of draws whose outputs were compared
	Compared int `json:"compared"` // number of outputs compared per draw
	// Drawn is the number of outputs that were not compared because they depend on random numbers:
	// the two programs draw these in different orders.
	Drawn int `json:"drawn"`
	// Reason is why no output was compared; "" if some were.
	Reason string `json:"reason,omitempty"`
}

// WrongDensity is a point at which a compiled program and the reference evaluator compute different
// log densities, gradients or outputs.
type WrongDensity struct {
	// the kind of error: log density, gradient, output, rejection (by the reference alone) or
	// refusal (by the compiled program alone)
	What string `json:"what"`
	Name string `json:"name,omitempty"` // name of the output
	// when it was found: before the first draw, at the end of warm-up, or at the end of a chain
	When      string    `json:"when"`
	Compiled  float64   `json:"compiled"`            // compiled log density, or its slope along direction
	Reference float64   `json:"reference"`           // value of the reference evaluator
	Tolerance float64   `json:"tolerance"`           // difference that rounding explains
	Point     []float64 `json:"point"`               // unconstrained point
	Direction []float64 `json:"direction,omitempty"` // direction of the slopes
	Message   string    `json:"message,omitempty"`   // message of the program that rejects the point

	// pass of the compiler that causes the error; "" if no single pass does
	Pass    string `json:"pass,omitempty"`
	Instead string `json:"instead"` // program that made the draws instead
	Begun   bool   `json:"begun"`   // whether draws had been made and were discarded
}

// The kinds of errors.
const (
	DensityValue     = "log density"
	DensityGradient  = "gradient"
	DensityOutput    = "output"    // a transformed parameter or generated quantity
	DensityRejection = "rejection" // only the reference evaluator rejects the point
	DensityRefusal   = "refusal"   // only the compiled program rejects the point
)

// MergeDensities combines the comparisons of several runs of one program. It ignores nil ones, and
// returns nil if all are nil.
func MergeDensities(runs []*Density) *Density {
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
		// All runs have the same program, so one full comparison is enough.
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
