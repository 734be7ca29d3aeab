package types

// Forms is a library function with optional arguments: a list of signatures that messages and
// documentation show as one.
type Forms struct {
	Name  string
	Shown string // the signature with all arguments, the optional ones in brackets
	// Forms returns the signatures. It is called only for programs that name the function: those of
	// pharmacometrics together have thousands, which took half the time of a small command.
	Forms func() []FuncType
}

// Match implements Overload. If no form fits, the fault is that of the form whose first wrong
// argument comes last.
func (f Forms) Match(args []Type) (Match, bool) {
	var best Match
	found, counted, near := false, false, 0
	forms := f.Forms()
	for i := range forms {
		form := &forms[i]
		n := len(form.Params)
		if n != len(args) {
			if abs(n-len(args)) < abs(near-len(args)) {
				near = n
			}
			continue
		}
		m, ok := form.Match(args)
		switch {
		case ok && (!found || m.Promotions < best.Promotions):
			best, found = m, true
		case !ok && !found && (!counted || m.Fault.Arg > best.Fault.Arg):
			best = m
		}
		counted = true
	}
	if !counted {
		return wrongCount(near)
	}
	return best, found
}

// String implements Overload.
func (f Forms) String() string { return f.Shown }

func abs(n int) int { return max(n, -n) }
