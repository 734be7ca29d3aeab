// Command sbom writes a software bill of materials of a Go binary, in CycloneDX's JSON format, from
// the information that the Go toolchain recorded in it. The same binary gives the same text.
//
//	go run ./internal/cmd/sbom --licenses LICENSES.txt ppl_v1.0.0_linux_amd64 >ppl.cdx.json
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("sbom: ")
	licences := flag.String("licenses", "", "`file` with lines MODULE VERSION LICENCE, as .ci/release writes")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: sbom [--licenses FILE] BINARY")
	}
	text, err := write(flag.Arg(0), *licences)
	if err != nil {
		log.Fatal(err)
	}
	os.Stdout.Write(text)
}

// The part of CycloneDX 1.6 that is used: https://cyclonedx.org/docs/1.6/json/.
type bom struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp,omitempty"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Licences   []licence  `json:"licenses,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type licence struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn,omitempty"`
}

// spdx matches an SPDX identifier of a licence. A word of another form begins a remark.
var spdx = regexp.MustCompile(`^[A-Za-z0-9.+-]+$`)

// readLicences reads a list of modules, versions and licences, up to the first empty line.
func readLicences(path string) (map[string]string, error) {
	out := map[string]string{}
	if path == "" {
		return out, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan() && s.Text() != ""; {
		if f := strings.Fields(s.Text()); len(f) >= 3 && spdx.MatchString(f[2]) {
			out[f[0]] = f[2]
		}
	}
	return out, nil
}

func write(binary, licences string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("%s is no Go binary: %w", binary, err)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	known, err := readLicences(licences)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	b := bom{Format: "CycloneDX", Spec: "1.6", Version: 1, Components: []component{}}
	// A UUID of version 8, made of the bits of the binary's checksum.
	id := sum
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	b.Serial = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])

	main := module(&info.Main, known)
	main.Type, main.Name = "application", filepath.Base(info.Path)
	main.Hashes = []hash{{"SHA-256", fmt.Sprintf("%x", sum)}}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.time":
			b.Metadata.Timestamp = s.Value
		case "GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision":
			main.Properties = append(main.Properties, property{"go:" + s.Key, s.Value})
		}
	}
	b.Metadata.Component = main
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	std := component{Type: "library", Ref: "pkg:golang/std@" + goVersion, Name: "std", Version: goVersion, PURL: "pkg:golang/std@" + goVersion}
	std.license(known["Go"])
	b.Components = append(b.Components, std)
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		b.Components = append(b.Components, module(d, known))
	}
	all := dependency{Ref: main.Ref}
	for _, c := range b.Components {
		all.On = append(all.On, c.Ref)
	}
	b.Dependencies = append(b.Dependencies, all)
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

func module(m *debug.Module, licences map[string]string) component {
	ref := "pkg:golang/" + strings.ReplaceAll(m.Path, "~", "%7E") + "@" + m.Version
	c := component{Type: "library", Ref: ref, Name: m.Path, Version: m.Version, PURL: ref}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	c.license(licences[m.Path])
	return c
}

func (c *component) license(id string) {
	if id != "" {
		var l licence
		l.Licence.ID = id
		c.Licences = []licence{l}
	}
}
