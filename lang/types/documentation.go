package types

// Documentation is the library's documentation of a name.
type Documentation struct {
	Name string
	// Distribution is set for the name of a distribution, and for functions that were derived from
	// one.
	Distribution *DistributionDoc
	Functions    []FunctionDoc
}

// DistributionDoc describes a distribution.
type DistributionDoc struct {
	Name, Text string
	Discrete   bool
	Formula    string        // the density or mass in y and the parameters, as an expression of the language; may be empty
	Mean       string        // the mean, as an expression of the parameters in the language; empty if there is none
	Variance   string        // the variance, as for Mean
	Source     string        // where the formula is from
	Arguments  []ArgumentDoc // the variate y, then the parameters
}

// ArgumentDoc describes an argument.
type ArgumentDoc struct {
	Name string
	Is   string     // what it is, such as "scale parameter"
	Must Constraint // its domain; Text is "" if there is no restriction
}

// FunctionDoc describes a function. Each of its texts applies to some of its signatures.
type FunctionDoc struct {
	Name  string
	Texts []TextDoc
}

// TextDoc describes what some signatures of a function compute.
type TextDoc struct {
	Text     string
	Forms    []string // as returned by Overload.String
	Examples []string // calls with their values
}
