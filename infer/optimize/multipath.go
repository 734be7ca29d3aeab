package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// PathfinderOptions are options of [Pathfinder].
type PathfinderOptions struct {
	PathOptions

	Paths      int        // 0: 4
	Resampled  int        // draws after resampling; 0: 1000
	NoResample bool       // return all draws of all paths, unweighted
	Init       infer.Init // where paths start; nil: infer.Uniform{Radius: 2}
	Seed       uint64
	FirstID    int // number of the first path, for its random stream; 0: 1
}

// PathfinderResult is the outcome of [Pathfinder].
type PathfinderResult struct {
	Draws
	Paths      []*Path
	K          float64 // Pareto k of the weights of all paths' draws; NaN: no log densities
	Resampled  bool
	Candidates *Draws    // the draws of all paths
	Weights    []float64 // of Candidates; nil: none
}

// Pathfinder runs several paths and combines their draws by importance resampling. The paths run in
// parallel if the target can be cloned. Paths that fail have an Err and are left out. An error says
// that all paths failed, or that the run was interrupted.
func Pathfinder(ctx context.Context, target infer.LogDensity, options PathfinderOptions) (_ *PathfinderResult, err error) {
	defer infer.Recover(&err)
	if err := wanted(ctx, target); err != nil {
		return nil, err
	}
	def(&options.Paths, 4)
	def(&options.Resampled, 1000)
	def(&options.FirstID, 1)
	if options.Init == nil {
		options.Init = infer.Uniform{Radius: 2}
	}
	if err := options.PathOptions.withDefaults().check(); err != nil {
		return nil, err
	}
	if options.Paths < 1 || options.Resampled < 1 {
		return nil, fmt.Errorf("the numbers of paths (%d) and of draws (%d) must be positive", options.Paths, options.Resampled)
	}
	r := &PathfinderResult{Paths: make([]*Path, options.Paths), K: math.NaN(), Candidates: &Draws{}}
	parallel(target, options.Paths, func(i int, target infer.LogDensity) {
		id := options.FirstID + i
		path, err := func() (path *Path, err error) {
			// A panic in a target must not end the other paths.
			defer func() {
				if r := recover(); r != nil {
					err = infer.NewPanicError(r)
				}
			}()
			o := newObjective(ctx, target)
			x, _, err := infer.FindStart(options.Init, i, o.meter, infer.Stream(options.Seed, id, "init", 0))
			if err != nil {
				return nil, err
			}
			return FollowPath(ctx, target, x, infer.Stream(options.Seed, id, "pathfinder", 0), options.PathOptions)
		}()
		if path == nil {
			path = &Path{}
		}
		path.ID, path.Err = id, err
		r.Paths[i] = path
	})
	var failures []error
	for _, path := range r.Paths {
		if path.Err != nil {
			failures = append(failures, fmt.Errorf("path %d: %w", path.ID, path.Err))
			continue
		}
		for i, x := range path.Points {
			r.Candidates.add(x, path.LogP[i], path.LogQ[i])
		}
	}
	if err := ctx.Err(); err != nil {
		return r, interrupted(err)
	}
	if len(r.Candidates.Points) == 0 {
		return r, errors.Join(failures...)
	}
	r.Draws = *r.Candidates
	if options.NoLogDensity {
		return r, nil
	}
	r.Weights, r.K = r.Candidates.Weights()
	if r.Weights == nil {
		return r, errNoEstimate
	}
	if !options.NoResample {
		r.Draws, r.Resampled = *r.Candidates.Resample(infer.Stream(options.Seed, options.FirstID, "resample", 0), r.Weights, options.Resampled, true), true
	}
	return r, nil
}

// Starts returns starting points for n chains, resampled from the draws of all paths by their
// weights. They differ as long as enough draws have a positive weight. Points of the same path have
// the same origin.
func (r *PathfinderResult) Starts(seed uint64, n int) infer.At {
	rng := infer.Stream(seed, 1, "starts", 0)
	drawn := r.Candidates.Resample(rng, r.Weights, n, false)
	for len(drawn.Points) < n { // fewer draws have a positive weight
		more := r.Candidates.Resample(rng, r.Weights, n-len(drawn.Points), true)
		drawn.Points = append(drawn.Points, more.Points...)
	}
	at := infer.At{Positions: drawn.Points}
	for _, x := range drawn.Points {
		at.Origins = append(at.Origins, slices.IndexFunc(r.Paths, func(p *Path) bool {
			return slices.ContainsFunc(p.Points, func(y []float64) bool { return slices.Equal(x, y) })
		}))
	}
	return at
}
