package fit

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/zarr"
)

// ReadZarr reads the draws of a run from a Zarr store written by ppl. If the run still runs or was
// killed, it reads the draws in complete chunks. The store does not contain the model and data: see
// [Fit.SetPosterior].
func ReadZarr(dir string) (*Fit, error) { return ReadOptions{}.Zarr(dir) }

// Zarr is [ReadZarr] within the limits of o.
func (o ReadOptions) Zarr(dir string) (*Fit, error) {
	room := o.room()
	store, err := zarr.Open(dir)
	if err != nil {
		return nil, err
	}
	if store.Attributes[creatorKey] != "ppl" || store.Group("posterior") == nil || store.Group("sample_stats") == nil {
		return nil, fmt.Errorf("cannot read draws: %s is no Zarr store of a run of ppl", dir)
	}
	var settings []draws.Setting
	if err := arrays.Decode(store.Attributes[settingsKey], &settings); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", dir, settingsKey, err)
	}
	var events [][]infer.Event
	if text, ok := store.Attributes[eventsKey]; ok {
		if err := arrays.Decode(text, &events); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", dir, eventsKey, err)
		}
	}
	columns, sampled, err := arrays.Read(store, "", room)
	if err != nil {
		return nil, fmt.Errorf("cannot read draws from %s: %w", dir, err)
	}
	var warmed [][]float64
	if store.Group("warmup_posterior") != nil {
		if _, warmed, err = arrays.Read(store, "warmup_", room); err != nil {
			return nil, fmt.Errorf("cannot read draws from %s: %w", dir, err)
		}
	}
	first, _ := intSetting(settings, "id")
	all := make([]*draws.Contents, len(sampled))
	for i := range all {
		all[i] = &draws.Contents{Columns: columns, Draws: sampled[i]}
		for _, s := range settings {
			all[i].Config = append(all[i].Config, s.With("id", strconv.Itoa(first+i)))
		}
		if i < len(events) {
			all[i].Events = events[i]
		}
		if i < len(warmed) {
			all[i].Warmup = warmed[i]
		}
	}
	f, err := fitOf(slices.Repeat([]string{dir}, len(all)), all)
	if err == nil {
		f.sigFigs = 0 // the numbers are exact
		if f.head == nil {
			f.rounded = 0
		}
		for i := range f.Report.Chains {
			if steps, ok := f.Draws.Statistic(nil, i, "stepsize__"); ok && len(steps) > 0 {
				f.Report.Chains[i].StepSize = steps[len(steps)-1]
			}
		}
	}
	return f, err
}
