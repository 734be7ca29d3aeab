package selfcheck

import (
	"fmt"

	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// Findings returns findings about the self-check: if the density was wrong, or if not everything
// was compared. d may be nil.
func Findings(d *folder.Density) []diagnose.Finding {
	if d == nil {
		return nil
	}
	var found []diagnose.Finding
	for _, w := range d.Wrong {
		what := fmt.Sprintf("another %s than the model says: %.10g at one point, and not %.10g", w.What, w.Compiled, w.Reference)
		switch {
		case w.What == folder.DensityOutput:
			what = fmt.Sprintf("another value of %s than the model says: %.10g at one point, and not %.10g", w.Name, w.Compiled, w.Reference)
		case w.Name != "":
			what = fmt.Sprintf("outputs where the model has none, or none where it has some (%s)", w.Message)
		case w.What == folder.DensityRefusal:
			what = fmt.Sprintf("no log density where the model has one of %.10g: %s", w.Reference, w.Message)
		case w.What == folder.DensityRejection:
			what = fmt.Sprintf("a log density of %.10g where the model rejects the point (%s)", w.Compiled, w.Message)
		}
		done := "The results are from " + w.Instead + "."
		if w.Begun {
			done = "The draws made until then were discarded; the results are from " + w.Instead + "."
		}
		found = append(found, diagnose.Finding{
			Code: "density-wrong", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("The compiled program computed %s. %s", what, done),
			Brief:   "The compiled program disagreed with the model, a fault of ppl",
			First:   "report it, and compare the results with another program's",
			Advice:  "This is a fault of ppl, not of your model. Please report it with the model, the data and the point. Compare the results with another program before you use them.", Settings: []string{"report-bug"},
		})
	}
	if d.Share < 1 && len(d.Wrong) == 0 {
		found = append(found, diagnose.Finding{
			Code: "density-unchecked", Severity: diagnose.Note,
			Summary: fmt.Sprintf("The compiled log density was compared with the reference evaluator for %.0f %% of the statements only: %s.", 100*d.Share, d.Reason),
			Brief:   fmt.Sprintf("The compiled log density was checked for %.0f %% of the statements only", 100*d.Share),
			First:   "longer runs check more",
			Advice:  "A longer run has more time for the comparison. You can also request it in full, however long that takes.", Settings: []string{"report-bug"},
		})
	}
	return found
}
