package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var programs struct {
	once sync.Once
	dir  string
	err  error
}

// built builds ppl and ppl-nats, and adds them to the PATH.
func built(t *testing.T) {
	t.Helper()
	programs.once.Do(func() {
		if programs.dir, programs.err = os.MkdirTemp("", "ppl-nats-test-"); programs.err != nil {
			return
		}
		for dir, pkg := range map[string]string{filepath.Join("..", ".."): "./cmd/ppl", ".": "."} {
			cmd := exec.Command("go", "build", "-o", programs.dir+string(filepath.Separator), pkg)
			cmd.Dir = dir
			if told, err := cmd.CombinedOutput(); err != nil {
				programs.err = fmt.Errorf("%w: %s", err, told)
			}
		}
	})
	if programs.err != nil {
		t.Fatal(programs.err)
	}
	t.Setenv("PATH", programs.dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

func TestMain(m *testing.M) {
	code := m.Run()
	if programs.dir != "" {
		os.RemoveAll(programs.dir)
	}
	os.Exit(code)
}

// process is a program that runs during the test.
type process struct {
	cmd  *exec.Cmd
	args []string
	log  bytes.Buffer
}

func (p *process) start(t *testing.T) {
	t.Helper()
	p.cmd = exec.Command(p.args[0], p.args[1:]...)
	p.cmd.Stderr = &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

func begin(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{args: args}
	p.start(t)
	t.Cleanup(func() { p.kill() })
	return p
}

// address returns an unused local address.
func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// ppl runs the command and returns what it prints.
func ppl(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("ppl", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ppl %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// plan writes the plan of a study with the given number of fits to simulated data, and two fits
// that fail.
func plan(t *testing.T, fits, draws int) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"m.stan": `data { int N; vector[N] y; }
parameters { real mu; real<lower=0> tau; }
model { mu ~ normal(0, 5); tau ~ exponential(1); y ~ normal(mu, tau); }`,
		"table.csv": "g,y\na,1\na,none\nb,1\nb,2\n",
		"plan.yaml": fmt.Sprintf(`models: m.stan
data: [{simulate: true, data: {N: 4}, sets: %d}, {table: table.csv, by: g, count: N}, {values: {N: 2, y: [1, 2, 3]}}]
options: {chains: 2, warmup: %d, draws: %d}
keep: {draws: [mu]}
`, fits, draws, draws),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir, filepath.Join(dir, "plan.yaml")
}

func same(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(filepath.Join(a, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(filepath.Join(b, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(x, y) {
		t.Errorf("the results in %s and %s differ", a, b)
	}
}

// once returns the number of results in the journal of a study. A result that occurs twice fails
// the test.
func once(t *testing.T, dir string) int {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "journal", "study.frames"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]bool{}
	for {
		r, err := readFrame(f)
		if err == io.EOF {
			return len(seen)
		}
		if err != nil {
			t.Fatal(err)
		}
		if seen[r.header.Key] {
			t.Errorf("the result %s is there twice", r.header.Key)
		}
		seen[r.header.Key] = true
	}
}

// TestFaults kills the workers and the server of a study at random moments. No result may be lost
// or counted twice, and the results must equal those of a local run. PPL_NATS_FITS sets the number
// of fits of a longer test, with a kill each second.
func TestFaults(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals on Windows")
	}
	fits, draws, every := 300, 1000, 300*time.Millisecond
	if text := os.Getenv("PPL_NATS_FITS"); text != "" {
		var err error
		if fits, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		draws, every = 300, time.Second
	}
	built(t)
	t.Setenv("PPL_NATS_TOKEN", "word")
	dir, path := plan(t, fits, draws)
	at := address(t)
	url := "nats://" + at
	server := begin(t, "ppl-nats", "serve", "--dir", filepath.Join(dir, "server"), "--listen", at)
	var workers []*process
	for range 3 {
		workers = append(workers, begin(t, "ppl-nats", "worker", url, "--parallel", "1", "--ack-wait", "2s", "--tries", "1000"))
	}
	done := make(chan struct{})
	var killing sync.WaitGroup
	kills, stops := map[string]int{}, 0
	killing.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-time.After(every/2 + mathrand.N(every)):
			}
			switch {
			case n%4 == 1:
				server.kill()
				server.start(t)
				kills["server"]++
			case n%4 == 2: // like a network failure: other workers get its units meanwhile
				w := workers[mathrand.IntN(len(workers))]
				w.cmd.Process.Signal(syscall.SIGSTOP)
				time.Sleep(2500 * time.Millisecond)
				w.cmd.Process.Signal(syscall.SIGCONT)
				stops++
			default:
				w := workers[mathrand.IntN(len(workers))]
				w.kill()
				w.start(t)
				kills["worker"]++
			}
		}
	})
	out := filepath.Join(dir, "nats")
	began := time.Now()
	told := ppl(t, "study", path, "--out", out, "--engine", "nats", "--nats", url, "--json")
	close(done)
	killing.Wait()
	t.Logf("%d fits in %v; killed: %v, stopped: %d", fits, time.Since(began).Round(time.Second), kills, stops)
	if kills["server"] == 0 || kills["worker"] == 0 {
		t.Error("nothing was killed")
	}
	if !strings.Contains(told, fmt.Sprintf(`"fits":%d,`, fits+3)) || !strings.Contains(told, `"failed":2,`) {
		t.Error(told)
	}
	if n := once(t, out); n != fits+2 { // one has invalid data, and is not fitted
		t.Errorf("%d results of %d fits", n, fits+2)
	}
	ppl(t, "study", path, "--out", filepath.Join(dir, "local"), "-q")
	same(t, out, filepath.Join(dir, "local"))
}

// TestDeadLetters checks that a fit whose process always dies is given up after some attempts. The
// study then has a row with the error, and the server a dead letter.
func TestDeadLetters(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program that dies is a script of a shell")
	}
	built(t)
	dir, path := plan(t, 1, 20)
	dying := filepath.Join(dir, "dying")
	if err := os.WriteFile(dying, []byte("#!/bin/sh\necho out of memory >&2\nexit 3\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	at := address(t)
	begin(t, "ppl-nats", "serve", "--dir", filepath.Join(dir, "server"), "--listen", at)
	begin(t, "ppl-nats", "worker", "nats://"+at, "--program", dying, "--tries", "2")
	out := filepath.Join(dir, "out")
	told := ppl(t, "study", path, "--out", out, "--engine", "nats", "--nats", "nats://"+at, "--json")
	if !strings.Contains(told, `"lost":3`) || !strings.Contains(told, "given up after 2 attempts: its process has ended (exit status 3): out of memory") {
		t.Error(told)
	}
	list, err := exec.Command("ppl-nats", "dead", "nats://"+at).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(list)), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d dead letters: %s", len(lines), list)
	}
	var d dead
	if err := json.Unmarshal([]byte(lines[0]), &d); err != nil || d.Deliveries != 2 || !strings.Contains(d.Error, "out of memory") || d.Worker == "" {
		t.Errorf("%v %+v", err, d)
	}
}

// TestTLS checks that workers can connect only with TLS and the token. Large units and results are
// passed as objects.
func TestTLS(t *testing.T) {
	built(t)
	dir, _ := plan(t, 1, 20)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert, keyFile, token := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "token")
	large := make([]string, 60_000)
	for i := range large {
		large[i] = fmt.Sprintf("%d.123456789", i%7)
	}
	for name, text := range map[string][]byte{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), keyFile: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), token: []byte("secret\n"),
		filepath.Join(dir, "large.json"): fmt.Appendf(nil, `{"N": %d, "y": [%s]}`, len(large), strings.Join(large, ", ")),
		filepath.Join(dir, "large.yaml"): []byte("models: m.stan\ndata: large.json\noptions: {chains: 1, warmup: 100, draws: 40000}\nkeep: {draws: [mu, tau]}\n"),
	} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if o := (serverOptions{dir: dir, listen: "0.0.0.0:0"}); true {
		if _, err := startServer(o); err == nil || !strings.Contains(err.Error(), "needs a token") {
			t.Errorf("a server without a token that others reach: %v", err)
		}
	}
	at := address(t)
	begin(t, "ppl-nats", "serve", "--dir", filepath.Join(dir, "server"), "--listen", at, "--cert", cert, "--key", keyFile, "--token-file", token)
	url := "tls://" + at
	begin(t, "ppl-nats", "worker", url, "--ca", cert, "--token-file", token)
	out := filepath.Join(dir, "out")
	ppl(t, "study", filepath.Join(dir, "large.yaml"), "--out", out, "--engine", "nats", "--nats", url, "--nats-token-file", token, "--nats-ca", cert, "-q")
	ppl(t, "study", filepath.Join(dir, "large.yaml"), "--out", filepath.Join(dir, "local"), "-q")
	same(t, out, filepath.Join(dir, "local"))
	for _, args := range [][]string{{"dead", url, "--ca", cert}, {"dead", url, "--token-file", token}} {
		told, err := exec.Command("ppl-nats", args...).CombinedOutput()
		if err == nil || !strings.Contains(string(told), "cannot connect") {
			t.Errorf("ppl-nats %v: %v %s", args, err, told)
		}
	}
}

// TestFrames checks that damaged frames are refused, without allocating the lengths that they
// state.
func TestFrames(t *testing.T) {
	whole := newFrame(header{Type: "note", Text: "a"}, []byte("payload"))
	if f, err := readFrame(bytes.NewReader(whole)); err != nil || string(f.payload()) != "payload" || f.header.Text != "a" {
		t.Error(err)
	}
	for i := range whole {
		if i >= 4 && i < 12 {
			continue // the lengths: a longer one only reaches the end of the stream
		}
		bad := bytes.Clone(whole)
		bad[i] ^= 1
		if _, err := readFrame(bytes.NewReader(bad)); err == nil {
			t.Errorf("byte %d", i)
		}
	}
	long := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(long[8:], 1<<31)
	if _, err := readFrame(bytes.NewReader(long)); err != errFrame {
		t.Error(err)
	}
}
