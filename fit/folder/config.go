package folder

import (
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/sampler"
)

// Config is the configuration of a run, as its record stores it.
type Config struct {
	Sampler    sampler.Encoded `json:"sampler"`           // sampler with its options
	Chains     int             `json:"chains"`            // number of chains
	Warmup     int             `json:"warmup"`            // planned transitions of warm-up per chain
	Draws      int             `json:"draws"`             // planned transitions per chain after warm-up, before thinning
	Thin       int             `json:"thin"`              // one in this many draws was kept
	FirstID    int             `json:"first_id"`          // number of the first chain
	Seed       uint64          `json:"seed"`              // seed of the random numbers
	Radius     *float64        `json:"radius,omitempty"`  // radius of random starting points; null: other starting points
	Starts     [][]float64     `json:"starts,omitempty"`  // unconstrained starting points that were given
	Origins    []int           `json:"origins,omitempty"` // starting points that came from the same given point
	Adapted    []infer.Adapted `json:"adapted,omitempty"` // step sizes and metrics that were given
	SaveWarmup bool            `json:"save_warmup"`       // whether the draws of warm-up were kept
	Parallel   int             `json:"parallel"`          // number of processors
	Refresh    int             `json:"refresh"`           // transitions between two reports of progress
}

// ConfigOf converts the configuration of a run to the form of a record.
func ConfigOf(c infer.Config) *Config {
	out := &Config{Sampler: sampler.Encode(c.Sampler), Chains: c.Chains, Warmup: c.Warmup, Draws: c.Draws, Thin: c.Thin,
		FirstID: c.FirstID, Seed: c.Seed, SaveWarmup: c.SaveWarmup, Parallel: c.Parallel, Refresh: c.Refresh}
	switch init := c.Init.(type) {
	case infer.Uniform:
		out.Radius = &init.Radius
	case infer.At:
		out.Radius, out.Starts, out.Origins = &init.Radius, init.Positions, init.Origins
	}
	for i := range max(len(c.StepSize), len(c.Metric), len(c.Recentring)) {
		var a infer.Adapted
		if n := len(c.StepSize); n > 0 {
			a.StepSize = c.StepSize[min(i, n-1)]
		}
		if n := len(c.Metric); n > 0 {
			a.Metric = c.Metric[min(i, n-1)]
		}
		if n := len(c.Recentring); n > 0 {
			a.Recentring = c.Recentring[min(i, n-1)]
		}
		out.Adapted = append(out.Adapted, a)
	}
	return out
}

// Infer converts the configuration back to that of package infer. The sampler is nil if it cannot
// be restored. Init is nil unless it was infer.Uniform or infer.At.
func (c *Config) Infer() (infer.Config, error) {
	s, err := c.Sampler.Sampler()
	if err != nil {
		return infer.Config{}, err
	}
	out := infer.Config{Sampler: s, Chains: c.Chains, Warmup: c.Warmup, Draws: c.Draws, Thin: c.Thin, FirstID: c.FirstID,
		Seed: c.Seed, SaveWarmup: c.SaveWarmup, WarmupValues: c.SaveWarmup, Parallel: c.Parallel, Refresh: c.Refresh}
	switch {
	case c.Starts != nil && c.Radius != nil:
		out.Init = infer.At{Positions: c.Starts, Radius: *c.Radius, Origins: c.Origins}
	case c.Radius != nil:
		out.Init = infer.Uniform{Radius: *c.Radius}
	}
	for _, a := range c.Adapted {
		if a.StepSize > 0 {
			out.StepSize = append(out.StepSize, a.StepSize)
		}
		if a.Metric.Kind != "" {
			out.Metric = append(out.Metric, a.Metric)
		}
		if a.Recentring != nil {
			out.Recentring = append(out.Recentring, a.Recentring)
		}
	}
	return out, nil
}
