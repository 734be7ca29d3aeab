package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

//go:embed abtest.stan
var program string

// service computes the probability that each variant is the best.
type service struct {
	model   *ppl.Model    // compiled once, bound for each request
	timeout time.Duration // of a request
	limits  *ppl.Limits   // of all requests together
	seed    uint64

	summarizer diagnose.Summarizer // reuses its memory for the next request
}

func newService(timeout time.Duration) (*service, error) {
	model, err := ppl.Compile("abtest.stan", program)
	if err != nil {
		return nil, err
	}
	limits, err := ppl.NewLimits(runtime.GOMAXPROCS(0), maxMemory)
	if err != nil {
		return nil, err
	}
	return &service{model: model, timeout: timeout, limits: limits, seed: 1}, nil
}

// question is the body of a request.
type question struct {
	Variants []struct {
		Name     string `json:"name"`
		Visitors int    `json:"visitors"`
		Buyers   int    `json:"buyers"`
	} `json:"variants"`
	Prior *[2]float64 `json:"prior"` // of the rates, Beta(a, b); by default uniform
}

// answer is the result for one variant.
type answer struct {
	Name            string   `json:"name"`
	Rate            estimate `json:"rate"`
	Lift            estimate `json:"lift"` // over the first variant
	ProbabilityBest float64  `json:"probability_best"`
	ExpectedLoss    float64  `json:"expected_loss"` // of rate, if this variant is chosen
}

// estimate is a posterior mean with a 90% interval.
type estimate struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// The limits of a request.
const (
	maxBytes    = 64 << 10
	maxVariants = 50
	maxMemory   = 256 << 20 // bytes, for the draws and evaluations of all requests together
)

// data returns the data of the model, or an error that describes what is wrong with the question.
func (q *question) data() (map[string]any, error) {
	if n := len(q.Variants); n < 2 || n > maxVariants {
		return nil, fmt.Errorf("there are %d variants; give 2 to %d", n, maxVariants)
	}
	var visitors, buyers []int
	for _, v := range q.Variants {
		if v.Visitors < 0 || v.Buyers < 0 || v.Buyers > v.Visitors {
			return nil, fmt.Errorf("variant %q has %d buyers of %d visitors", v.Name, v.Buyers, v.Visitors)
		}
		visitors, buyers = append(visitors, v.Visitors), append(buyers, v.Buyers)
	}
	prior := [2]float64{1, 1}
	if q.Prior != nil {
		prior = *q.Prior
	}
	if !(prior[0] > 0) || !(prior[1] > 0) {
		return nil, fmt.Errorf("the prior Beta(%v, %v) must have positive parameters", prior[0], prior[1])
	}
	return map[string]any{"K": len(visitors), "visitors": visitors, "buyers": buyers, "a": prior[0], "b": prior[1]}, nil
}

// answer samples the posterior and summarises the draws.
func (s *service) answer(ctx context.Context, q *question) ([]answer, error) {
	data, err := q.data()
	if err != nil {
		return nil, &mistake{err}
	}
	posterior, err := s.model.BindContext(ctx, data, ppl.BindOptions{})
	if ppl.Diagnostics(err) != nil { // the data do not match the model
		return nil, &mistake{err}
	}
	if err != nil {
		return nil, err
	}
	fit, err := ppl.Sample(ctx, posterior, ppl.Options{
		Warmup: 400, Draws: 400, Seed: s.seed,
		Init: infer.Uniform{Radius: 1}, Limits: s.limits,
	})
	if err != nil { // an incomplete run is not an answer
		return nil, err
	}
	rows := map[string]ppl.Row{}
	for _, row := range fit.SummaryOf(&s.summarizer, nil, diagnose.MeasureQuantiles|diagnose.MeasureRhat) {
		rows[row.Name] = row
	}
	answers := make([]answer, len(q.Variants))
	for i, v := range q.Variants {
		element := func(name string) ppl.Row { return rows[fmt.Sprintf("%s[%d]", name, i+1)] }
		rate, loss, lift, best := element("rate"), element("loss"), element("lift"), element("best")
		if rate.Rhat > 1.05 {
			return nil, fmt.Errorf("the chains do not agree on %s: R-hat %.2f", rate.Name, rate.Rhat)
		}
		answers[i] = answer{
			Name:            v.Name,
			Rate:            estimate{rate.Mean, rate.Q5, rate.Q95},
			Lift:            estimate{lift.Mean, lift.Q5, lift.Q95},
			ProbabilityBest: best.Mean,
			ExpectedLoss:    loss.Mean,
		}
	}
	return answers, nil
}

// mistake is an error of the client.
type mistake struct{ error }

// ServeHTTP implements [http.Handler].
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The deadline starts here. The work also ends when the client disconnects.
	ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
	defer cancel()
	var q question
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBytes))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&q); err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	answers, err := s.answer(ctx, &q)
	switch {
	case errors.As(err, new(*mistake)):
		fail(w, http.StatusBadRequest, err)
	case errors.Is(err, context.DeadlineExceeded):
		fail(w, http.StatusGatewayTimeout, fmt.Errorf("no answer within %v", s.timeout))
	case err != nil:
		fail(w, http.StatusInternalServerError, err)
	default:
		reply(w, http.StatusOK, map[string]any{"variants": answers})
	}
}

func fail(w http.ResponseWriter, status int, err error) {
	reply(w, status, map[string]string{"error": err.Error()})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have disconnected
}
