package infer

// rounds makes the chains of a run with Config.Enough wait for each other. All its fields except
// answers belong to the consumer's goroutine.
type rounds struct {
	waiting []int       // by chain: the number of transitions after which it waits; 0: it does not wait
	ended   []bool      // by chain
	answers []chan bool // by chain: whether sampling may end
}

func newRounds(chains int) *rounds {
	r := &rounds{waiting: make([]int, chains), ended: make([]bool, chains)}
	for range chains {
		r.answers = append(r.answers, make(chan bool, 1))
	}
	return r
}

// nextRound returns the number of transitions, greater than n, after which Enough is asked next.
func nextRound(n int) int {
	r := 100
	for r <= n {
		r += r / 4
	}
	return r
}

// round records that a chain waits or has ended. If all do, it asks Config.Enough. The chains of a
// resumed run may be one round apart; then the chain that is behind continues first.
func (s *Session) round(m message) {
	r := s.rounds
	if m.ended {
		r.ended[m.chain] = true
	} else {
		r.waiting[m.chain] = m.round
	}
	first := 0
	for i, n := range r.waiting {
		switch {
		case r.ended[i]:
		case n == 0:
			return
		case first == 0 || n < first:
			first = n
		}
	}
	if first == 0 {
		return
	}
	enough := s.cfg.Enough(first)
	if enough {
		s.mu.Lock()
		s.report.Enough = first
		s.mu.Unlock()
	}
	for i, n := range r.waiting {
		if !r.ended[i] && n == first {
			r.waiting[i] = 0
			r.answers[i] <- enough
		}
	}
}
