package ad

// This file: what a kind of region does. A new kind implements region and has a row of its
// op; evaluation, derivatives in both directions, dependence and rewriting ask the attribute.

// region is the attribute of an op of class Region.
type region interface {
	// bodies are the sub-graphs, the repeated one last.
	bodies() []*Graph

	// withBodies is the region with f of its sub-graphs; itself if f changes none.
	withBodies(f func(*Graph) *Graph) any

	// repeats reports whether the last sub-graph runs more than once, on what it has made.
	repeats() bool

	// evalLane computes the results of one lane.
	evalLane(args, res [][]float64, env *Env) error

	// tangents are those of the results of n, given those of its arguments.
	tangents(f *forward, n *Node, tans []Ref) []Ref

	// reach marks in u.results those that depend on the arguments that are needed.
	reach(u *regionReach, need []bool)

	// untaken marks in l.outs the outputs of a body that is repeated which the marked results
	// come from, and returns the number of carried values.
	untaken(l *loopChoices, results []bool) (carries int)
}

var _, _, _ region = (*Scan)(nil), (*If)(nil), (*While)(nil)

func (s *Scan) bodies() []*Graph { return []*Graph{s.Body} }

func (s *Scan) withBodies(f func(*Graph) *Graph) any {
	b := f(s.Body)
	if b == s.Body {
		return s
	}
	out := *s
	out.Body = b
	return &out
}

func (s *Scan) repeats() bool { return true }

func (s *Scan) evalLane(args, res [][]float64, env *Env) error { return evalScan(s, args, res, env) }

func (s *Scan) tangents(f *forward, n *Node, tans []Ref) []Ref { return f.scan(s, n, tans) }

func (s *Scan) reach(u *regionReach, need []bool) {
	for i, d := range u.loop(s.Carries, need) {
		if i < s.Carries {
			u.results[s.finalAt(i)], u.results[s.historyAt(i)] = u.carried[i], u.carried[i]
		} else {
			u.results[s.Carries+i] = d // kept values and sums follow
		}
	}
}

func (s *Scan) untaken(l *loopChoices, results []bool) int {
	for k := range l.outs {
		l.outs[k] = l.outs[k] || k < s.Carries && results[s.finalAt(k)] || results[s.Carries+k] // the history, kept values and sums follow the final ones
	}
	return s.Carries
}

func (c *If) bodies() []*Graph { return []*Graph{c.Then, c.Else} }

func (c *If) withBodies(f func(*Graph) *Graph) any {
	t, e := f(c.Then), f(c.Else)
	if t == c.Then && e == c.Else {
		return c
	}
	return &If{Then: t, Else: e}
}

func (c *If) repeats() bool { return false }

func (c *If) evalLane(args, res [][]float64, env *Env) error {
	branch := c.Else
	if args[0][0] != 0 {
		branch = c.Then
	}
	outs, err := branch.Eval(args[1:], env)
	for i, o := range outs {
		copy(res[i], o)
	}
	return err
}

func (c *If) tangents(f *forward, n *Node, tans []Ref) []Ref { return f.conditional(c, n, tans) }

func (c *If) reach(u *regionReach, need []bool) {
	then, otherwise := u.bodies[0].through(need[1:]), u.bodies[1].through(need[1:])
	for i := range u.results {
		u.results[i] = then[i] || otherwise[i]
	}
}

func (c *If) untaken(*loopChoices, []bool) int { return 0 }

func (w *While) bodies() []*Graph { return []*Graph{w.Cond, w.Body} }

func (w *While) withBodies(f func(*Graph) *Graph) any {
	c, b := f(w.Cond), f(w.Body)
	if c == w.Cond && b == w.Body {
		return w
	}
	out := *w
	out.Cond, out.Body = c, b
	return &out
}

func (w *While) repeats() bool { return true }

func (w *While) evalLane(args, res [][]float64, env *Env) error { return evalWhile(w, args, res, env) }

func (w *While) tangents(f *forward, n *Node, tans []Ref) []Ref { return f.while(w, n, tans) }

func (w *While) reach(u *regionReach, need []bool) {
	for i, d := range u.loop(w.Carries, need) {
		if i < w.Carries {
			u.results[w.finalAt(i)], u.results[w.historyAt(i)] = u.carried[i], u.carried[i]
		} else {
			u.results[w.sumAt(i-w.Carries)] = d
		}
	}
}

func (w *While) untaken(l *loopChoices, results []bool) int {
	for k := range l.outs {
		if k < w.Carries {
			l.outs[k] = l.outs[k] || results[w.finalAt(k)] || results[w.historyAt(k)]
		} else {
			l.outs[k] = l.outs[k] || results[w.sumAt(k-w.Carries)]
		}
	}
	return w.Carries
}
