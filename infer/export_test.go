package infer

import "time"

// Elapsed returns the time that the current phase of the chain has taken, without waiting for the
// consumer.
func (s *Snapshot) Elapsed() time.Duration {
	if s.sampling {
		return s.report.Sampling.Elapsed
	}
	return s.report.Warmup.Elapsed
}

// Tick makes a report of each chain without transitions due.
func Tick(s *Session) { s.ticks.Add(1) }
