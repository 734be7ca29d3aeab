package ppl

// SnapshotAlways makes a run save the state of its chains after every
// transition.
func SnapshotAlways(o Options) Options {
	o.snapshotEvery = -1
	return o
}
