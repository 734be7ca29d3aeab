// Command ppl-nats distributes the fits of studies to workers on other machines, over NATS
// JetStream.
//
//	ppl-nats serve --dir DIR     run the server, which stores queues and results in DIR
//	ppl-nats worker URL          run fits of the studies on the server
//	ppl-nats run URL             the command that `ppl study --engine nats` runs
//	ppl-nats dead URL            list the fits that were given up, with their errors
//
// It is a separate module and does not know models: a fit is a sequence of bytes, which `ppl task
// -` turns into a result, also bytes.
//
//	main.go    options
//	serve.go   the server
//	queue.go   the streams: units of work, results, dead letters, large objects
//	run.go     a study: sends units to the queue, receives results
//	worker.go  a worker: takes units from the queue, returns results; child.go: its processes
//	frame.go   the records on standard streams
//
// A unit of work stays in the work queue until its result is in the stream of results. A result
// stays there until `ppl study` has written it to its journal. So each unit runs at least once. A
// result is named by the digest of its unit, so each counts only once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const usage = `usage: ppl-nats serve [--dir DIR] [--listen HOST:PORT] [--token-file FILE] [--cert FILE --key FILE] [--sync]
       ppl-nats worker URL [--parallel N] [--program PPL] [--token-file FILE] [--ca FILE]
       ppl-nats run URL --study NAME [--token-file FILE] [--ca FILE]
       ppl-nats dead URL [--token-file FILE] [--ca FILE]

URL is such as nats://host:4222, or tls://host:4222. The token may also be in the
variable PPL_NATS_TOKEN.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case ctx.Err() != nil:
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "ppl-nats:", err)
		os.Exit(1)
	}
}

// command runs the program.
func command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return flag.ErrHelp
	}
	fs := flag.NewFlagSet(args[0], flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	var s serverOptions
	var q queueOptions
	var w workerOptions
	name, tokenFile := "", ""
	fs.StringVar(&tokenFile, "token-file", "", "")
	switch args[0] {
	case "serve":
		fs.StringVar(&s.dir, "dir", "ppl-nats", "")
		fs.StringVar(&s.listen, "listen", "127.0.0.1:4222", "")
		fs.StringVar(&s.cert, "cert", "", "")
		fs.StringVar(&s.key, "key", "", "")
		fs.BoolVar(&s.sync, "sync", false, "")
	case "worker":
		fs.IntVar(&w.parallel, "parallel", runtime.GOMAXPROCS(0), "")
		fs.StringVar(&w.program, "program", "ppl", "")
	case "run":
		fs.StringVar(&name, "study", "", "")
	case "dead":
	default:
		fmt.Fprint(stderr, usage)
		return fmt.Errorf("there is no command %q", args[0])
	}
	if args[0] != "serve" {
		fs.StringVar(&q.ca, "ca", "", "")
		fs.DurationVar(&q.ackWait, "ack-wait", 30*time.Second, "")
		fs.IntVar(&q.tries, "tries", 10, "")
	}
	// The URL may stand before the options.
	rest := args[1:]
	if len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		q.url, rest = rest[0], rest[1:]
	}
	if err := fs.Parse(rest); err != nil || fs.NArg() > 0 {
		fmt.Fprint(stderr, usage)
		if err == nil {
			err = fmt.Errorf("unexpected argument %q", fs.Arg(0))
		}
		return err
	}
	token := os.Getenv("PPL_NATS_TOKEN")
	if tokenFile != "" {
		text, err := os.ReadFile(tokenFile)
		if err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
		token = strings.TrimSpace(string(text))
	}
	s.token, q.token = token, token
	if args[0] == "serve" {
		return serve(ctx, s, stderr)
	}
	if q.url == "" {
		fmt.Fprint(stderr, usage)
		return errors.New("the URL of the server is missing")
	}
	queue, err := connect(ctx, q, stderr)
	if err != nil {
		return err
	}
	defer queue.close()
	switch args[0] {
	case "worker":
		if w.parallel < 1 {
			return errors.New("--parallel must be at least 1")
		}
		return work(ctx, queue, w, stderr)
	case "run":
		return run(ctx, queue, name, stdin, stdout)
	}
	return queue.listDead(ctx, stdout)
}
