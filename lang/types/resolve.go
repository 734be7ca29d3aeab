package types

import "fmt"

// Failure says why a call could not be resolved.
type Failure struct {
	Ambiguous  bool        // several candidates fit equally well
	Candidates []Candidate // the candidates that fit equally well or, if none fits, all, those that nearly fit first
}

// Candidate is an overload that does not fit a call, or not uniquely.
type Candidate struct {
	Overload Overload
	Fault    Fault
}

// Explain describes why a candidate does not fit a call with these argument types.
func (c Candidate) Explain(args []Type) string {
	f := c.Fault
	switch {
	case f.Count > 0:
		return fmt.Sprintf("it takes %s, not %d", plural(f.Count, "argument"), len(args))
	case f.Want == NoArguments:
		return "it takes " + f.Want
	case f.Arg >= len(args):
		return "it takes other arguments"
	case f.Want == "" && f.Type.Kind == Invalid:
		return "its arguments do not fit"
	}
	want := f.Want
	if want == NotData {
		return fmt.Sprintf("argument %d must be data, but depends on parameters", f.Arg+1)
	}
	if want == "" {
		want = f.Type.String()
	}
	return fmt.Sprintf("argument %d must be %s, but is %s", f.Arg+1, want, args[f.Arg])
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Resolve selects the overload that fits the argument types with the fewest promotions, by Stan's
// count. If it fails, the Overload is nil and the Failure is not.
func Resolve(cands []Overload, args []Type) (Overload, Match, *Failure) {
	return ResolveLevels(cands, args, nil)
}

// ResolveLevels is Resolve for arguments of which some depend on parameters: param[i] is set for
// these. Such an argument does not fit a data-only parameter.
func ResolveLevels(cands []Overload, args []Type, param []bool) (Overload, Match, *Failure) {
	var best Overload
	var match Match
	ties := 0
	for _, c := range cands {
		m, ok := matchLevels(c, args, param)
		switch {
		case !ok:
		case best == nil || m.Promotions < match.Promotions:
			best, match, ties = c, m, 1
		case m.Promotions == match.Promotions:
			ties++
		}
	}
	if ties == 1 {
		return best, match, nil
	}
	// Collect the faults only now, since that is expensive.
	fail := &Failure{Ambiguous: ties > 1}
	for _, c := range cands {
		m, ok := matchLevels(c, args, param)
		if !ok && ties == 0 || ok && m.Promotions == match.Promotions && ties > 1 {
			fail.Candidates = append(fail.Candidates, Candidate{c, m.Fault})
		}
	}
	nearestFirst(fail.Candidates)
	return nil, Match{}, fail
}

// NotData is Fault.Want for an argument that depends on parameters where only data are allowed.
const NotData = "data"

// matchLevels is Match that also refuses arguments that depend on parameters where only data are
// allowed.
func matchLevels(c Overload, args []Type, param []bool) (Match, bool) {
	m, ok := c.Match(args)
	if !ok || m.DataOnly == nil {
		return m, ok
	}
	for i, p := range param {
		if p && m.DataOnly[i] {
			return Match{Fault: Fault{Arg: i, Want: NotData}}, false
		}
	}
	return m, true
}

// nearestFirst sorts candidates, stably: those whose first wrong argument comes later are first,
// those with another number of arguments last.
func nearestFirst(cs []Candidate) {
	key := func(c Candidate) int {
		if c.Fault.Count > 0 {
			return -1
		}
		return c.Fault.Arg
	}
	for i := 1; i < len(cs); i++ { // insertion sort, since there are a few dozen at most
		for j := i; j > 0 && key(cs[j]) > key(cs[j-1]); j-- {
			cs[j], cs[j-1] = cs[j-1], cs[j]
		}
	}
}
