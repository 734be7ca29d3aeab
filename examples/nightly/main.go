// Command nightly forecasts the next value of many series, as a job that runs each night does:
//
//	go run ./examples/nightly --keep fits <series.jsonl >forecasts.jsonl
//
// A line of input is {"name": "shop 12", "y": [3.1, 2.9, …]}. A line of output has the name, and
// the forecast or an error: a bad series does not end the job.
//
// The model is compiled once. All series share the limits of the job. The draws of a series depend
// only on the seed and the series. Fits are stored, and those of the next night start from their
// adapted step sizes and metrics. main.go has the command, job.go the work.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	keep := flag.String("keep", "", "folder of the fits, read and written; none: fits are not kept")
	processors := flag.Int("processors", runtime.GOMAXPROCS(0), "processors of all fits together")
	memory := flag.Int64("memory", 1<<30, "bytes of all fits together")
	timeout := flag.Duration("timeout", time.Hour, "time of the whole job")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	j, err := newJob(*keep, *processors, *memory)
	if err != nil {
		log.Fatal(err)
	}
	failed, err := j.run(ctx, os.Stdin, os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
	if failed > 0 {
		log.Printf("%d series have failed; their lines say why", failed)
		os.Exit(1)
	}
}
