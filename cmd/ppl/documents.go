package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/front/httpd"
	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/front/serve"
	"github.com/ppl-lang/ppl/study"
)

//go:generate go test -run ^TestSchemas$ -update .

// document is a kind of JSON that ppl prints or writes. go generate makes its schema in
// doc/reference/json from the type and the comments of its fields.
type document struct {
	name    string       // name of the schema doc/reference/json/NAME.schema.json
	version int          // to be raised when a field changes its meaning or is removed
	from    []string     // commands, options and files that have it, paths of ppl serve
	title   string       // one sentence
	typ     reflect.Type // a struct
}

// documents lists all documents.
var documents = []document{
	{"approximation", 1, []string{"laplace", "pathfinder", "variational"}, "An approximation of the posterior.", reflect.TypeFor[approximationJSON]()},
	{"bench", 1, []string{"bench"}, "Times of the gradient.", reflect.TypeFor[timings]()},
	{"check", 1, []string{"check"}, "Errors and warnings about models.", reflect.TypeFor[checkJSON]()},
	{"compare", 1, []string{"compare"}, "Models compared by how well they predict.", reflect.TypeFor[comparisonJSON]()},
	{"data", 1, []string{"data"}, "What a file of data has, and what a model needs.", reflect.TypeFor[dataJSON]()},
	{"diagnose", 1, []string{"diagnose"}, "What is wrong with a run; an object per run.", reflect.TypeFor[findingsJSON]()},
	{"effects", 1, []string{"effects"}, "How the expected outcome depends on variables of the data.", reflect.TypeFor[effectsJSON]()},
	{"select", 1, []string{"select"}, "Submodels with fewer terms, and how well they predict.", reflect.TypeFor[selectJSON]()},
	{"evidence", 1, []string{"evidence"}, "Marginal likelihoods and Bayes factors.", reflect.TypeFor[evidenceJSON]()},
	{"explain", 1, []string{"explain"}, "How the gradient is evaluated, and where its time goes.", reflect.TypeFor[explained]()},
	{"logdensity", 1, []string{"logdensity"}, "Log density and gradient at given points.", reflect.TypeFor[densities]()},
	{"individuals", 1, []string{"individuals"}, "Individual predictions, and shrinkage.", reflect.TypeFor[individualsJSON]()},
	{"loo", 1, []string{"loo", "cv"}, "How well a model predicts.", reflect.TypeFor[looJSON]()},
	{"metric", 1, []string{"metric"}, "The metric at given points.", reflect.TypeFor[metrics]()},
	{"optimize", 1, []string{"optimize"}, "A mode of the posterior.", reflect.TypeFor[optimumJSON]()},
	{"ppc", 1, []string{"ppc"}, "Predictive checks.", reflect.TypeFor[ppcJSON]()},
	{"quantities", 1, []string{"generate", "predict", "prior"}, "Quantities computed at draws.", reflect.TypeFor[quantitiesJSON]()},
	{"report", 1, []string{"report"}, "The data of the report of a run.", reflect.TypeFor[report.Report]()},
	{"report-study", 1, []string{"report"}, "The results of a study.", reflect.TypeFor[studyReportJSON]()},
	{"run", 1, []string{"run", "summary"}, "Summary and diagnostics of a run; an object per run.", reflect.TypeFor[runJSON]()},
	{"run-progress", 1, []string{"--progress json"}, "Progress of a chain of a run; a line each.", reflect.TypeFor[runProgress]()},
	{"run-record", folder.RecordVersion, []string{folder.RecordFile}, "How a run was made.", reflect.TypeFor[folder.Record]()},
	{"sbc", 1, []string{"sbc"}, "Simulation-based calibration.", reflect.TypeFor[sbcJSON]()},
	{"sensitivity", 1, []string{"sensitivity"}, "Sensitivity to prior and likelihood.", reflect.TypeFor[sensitivityJSON]()},
	{"serve-check", 1, []string{"/v1/check"}, "Errors and warnings about a model.", reflect.TypeFor[checked]()},
	{"serve-error", httpd.ErrorVersion, []string{"/v1/…"}, "Why a request has no result, instead of one or as the event error.", reflect.TypeFor[httpd.ErrorAnswer]()},
	{"serve-limits", serve.LimitsVersion, []string{"/v1/limits"}, "Limits of the server.", reflect.TypeFor[serve.LimitsAnswer]()},
	{"serve-logdensity", 1, []string{"/v1/logdensity"}, "Log density and gradient at points.", reflect.TypeFor[densityAnswer]()},
	{"serve-progress", 1, []string{"/v1/run"}, "Progress of a chain; an event each.", reflect.TypeFor[progressJSON]()},
	{"serve-run", 1, []string{"/v1/run"}, "Summary, diagnostics and draws of a run.", reflect.TypeFor[runAnswer]()},
	{"serve-summary", 1, []string{"/v1/summary"}, "Summary of draws that were given.", reflect.TypeFor[summaryAnswer]()},
	{"simulate", 1, []string{"simulate"}, "Data sets that were simulated.", reflect.TypeFor[simulatedJSON]()},
	{"states", 1, []string{"states"}, "Probabilities of discrete parameters.", reflect.TypeFor[statesJSON]()},
	{"study", 1, []string{"study"}, "Outcome of a study.", reflect.TypeFor[studyJSON]()},
	{"study-note", 1, []string{"--progress json"}, "A remark while a run or a study goes on; a line each.", reflect.TypeFor[studyNote]()},
	{"study-progress", 1, []string{"--progress json"}, "Progress of a study; a line each.", reflect.TypeFor[study.Progress]()},
	{"study-record", study.RecordVersion, []string{study.RecordName}, "How a study was made.", reflect.TypeFor[study.Record]()},
	{"version", 1, []string{"version"}, "The version of this program.", reflect.TypeFor[versionJSON]()},
	{"watch", 1, []string{"--watch"}, "How far a run is; an event progress each.", reflect.TypeFor[watchedRun]()},
}

// versionKey is the key that every document has for its version.
const versionKey = "schema_version"

// documentOf finds the kind of document for a type.
func documentOf(t reflect.Type) (document, bool) {
	for _, d := range documents {
		if d.typ == t {
			return d, true
		}
	}
	return document{}, false
}

// writeJSON writes v, or the value that it points to, as a document, and a line break.
func writeJSON(w io.Writer, v any) error {
	text, err := asDocument(v)
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}

// asDocument returns v, or the value that it points to, as a document in JSON.
func asDocument(v any) (json.RawMessage, error) {
	d, ok := documentOf(reflect.Indirect(reflect.ValueOf(v)).Type())
	if !ok {
		return nil, fmt.Errorf("%T is not in the table of documents", v)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"%s":%d,%s`, versionKey, d.version, bytes.TrimRight(b.Bytes(), "\n")[1:]), nil
}
