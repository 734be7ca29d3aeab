// Package engine does the work of the playground's web workers: it answers requests about models,
// as JSON. It does not depend on a browser, so that it can be tested without one. Package main in
// front/web/wasm passes it the page's requests.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// Each worker has its own [Engine]. One analyses the text during editing, one samples each chain,
// and one collects the chains and makes the report:
//
//	engine.go    Engine, Do: the table of requests; errors as JSON
//	editor.go    diagnostics, completion, documentation, formatting
//	place.go     positions as the page counts them
//	settings.go  Settings: the settings of a run; the samplers and their options
//	chain.go     one chain of a run, whose draws are passed in parts
//	gather.go    the run with all chains: its report, during the run and at its end
//	data.go      the contents of a data file; as JSON
//	columns.go   the draws of a run, for programs
//	generate.go  simulated data for trying a model
//	folder.go    model, data and settings as a ZIP file
//
// A model can only compute: nothing here reads or writes files. settings.go limits its resources.
// If a model never ends, the page ends its worker.
package engine
