package ppl_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math"
	"os"
	"time"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// coinPosterior returns the posterior for ten tosses, seven of them heads.
func coinPosterior() *ppl.Posterior {
	model, err := ppl.Compile("coin.model", coin)
	if err != nil {
		log.Fatal(err)
	}
	posterior, err := model.Bind(map[string]int{"n": 10, "heads": 7})
	if err != nil {
		log.Fatal(err)
	}
	return posterior
}

// A run ends soon after its context. The fit has the draws so far, and the error gives the reason.
func ExampleSample_cancel() {
	ctx, cancel := context.WithTimeoutCause(context.Background(), 100*time.Millisecond, errors.New("out of time"))
	defer cancel()
	fit, err := ppl.Sample(ctx, coinPosterior(), ppl.Options{Seed: 1, Draws: 1_000_000})
	var interrupted *ppl.InterruptedError
	fmt.Println(errors.As(err, &interrupted), interrupted.Cause, fit.Report.Interrupted)
	// Output: true out of time true
}

// Follow the progress of a run. Breaking the loop ends the run, as cancelling its context does.
func ExampleRun_Progress() {
	run, err := ppl.NewRun(context.Background(), coinPosterior(), ppl.Options{Seed: 1, Chains: 2})
	if err != nil {
		log.Fatal(err)
	}
	percent := map[int]int{}
	for p, err := range run.Progress() {
		if err != nil {
			log.Fatal(err)
		}
		percent[p.Chain] = 100 * p.Iteration / p.Total
	}
	fit, err := run.Fit()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(percent, fit.Draws.Len(0), "draws of each chain")
	// Output: map[0:100 1:100] 1000 draws of each chain
}

// Range over the draws of a run. Breaking the loop ends the run; the fit has the draws so far.
func ExampleNewRun() {
	run, err := ppl.NewRun(context.Background(), coinPosterior(), ppl.Options{Seed: 1, Draws: 10_000})
	if err != nil {
		log.Fatal(err)
	}
	heads, n := 0.0, 0
	for draw, err := range run.Draws() {
		if err != nil {
			log.Fatal(err)
		}
		heads += draw.Values[1] // next, the second of OutputNames
		if n++; n == 3000 {
			break
		}
	}
	fit, err := run.Fit()
	if err != nil {
		log.Fatal(err)
	}
	p, err := fit.Quantity("p")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the next toss is heads with probability %.1f; the mean of p is %.1f in %d draws\n",
		heads/float64(n), p.Row().Mean, len(p.Values()))
	// Output: the next toss is heads with probability 0.7; the mean of p is 0.7 in 3000 draws
}

// Log how a run has ended, and its findings. A fit can be an attribute of a log record.
func ExampleSample_logger() {
	short := func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, slog.LevelKey, "elapsed", "interrupted", "quantities", "seed", "min_ess", "max_rhat":
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: short}))
	fit, err := ppl.Sample(context.Background(), coinPosterior(), ppl.Options{Seed: 1, Logger: logger})
	if err != nil {
		log.Fatal(err)
	}
	logger.Info("kept", "fit", fit)
	// Output:
	// msg="sampling has ended" model=coin.model fit.chains=4 fit.draws=4000 fit.divergences=0
	// msg=kept fit.chains=4 fit.draws=4000 fit.divergences=0
}

// bell is a log density written in Go: a normal distribution in any number of dimensions.
type bell int

// Dim implements infer.LogDensity.
func (b bell) Dim() int { return int(b) }

// LogDensityGrad implements infer.LogDensity.
func (b bell) LogDensityGrad(x, grad []float64) (float64, error) {
	sum := 0.0
	for i, v := range x {
		grad[i] = -v
		sum -= v * v / 2
	}
	return sum, nil
}

// CloneDensity implements infer.Cloner: chains run in parallel.
func (b bell) CloneDensity() infer.LogDensity { return b }

// Sample a log density written in Go. The example of infer.Sampler shows a sampler written in Go.
func Example_density() {
	n, square := 0.0, 0.0
	for draw, err := range infer.Run(context.Background(), bell(3), infer.Config{Sampler: nuts.Sampler{}, Seed: 1}) {
		if err != nil {
			log.Fatal(err)
		}
		n++
		square += (draw.Position[0]*draw.Position[0] - square) / n
	}
	fmt.Printf("standard deviation %.1f\n", math.Sqrt(square))
	// Output: standard deviation 1.0
}
