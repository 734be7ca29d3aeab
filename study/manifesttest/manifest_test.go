// Package manifesttest reads manifests of studies with the schedulers' own types. It is a separate
// module, so that only this test depends on them.
package manifesttest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"cloud.google.com/go/batch/apiv1/batchpb"
	"github.com/aws/aws-sdk-go-v2/service/batch"
	"google.golang.org/protobuf/encoding/protojson"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// manifests makes the manifests of a study with three fits for a scheduler. It returns their texts
// by name.
func manifests(t *testing.T, kind string, options ...string) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"m.stan":    "parameters { real a; } model { a ~ std_normal(); }",
		"plan.yaml": "models: m.stan\nrepeat: 3\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	cmd := exec.Command("go", append([]string{"run", "./cmd/ppl", "study", filepath.Join(dir, "plan.yaml"), "--out", out, "--manifest", kind,
		"--image", "registry.example/ppl:1", "--tasks", "3", "--parallel", "2", "--job-name", "fits"}, options...)...)
	cmd.Dir = filepath.Join("..", "..")
	if told, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, told)
	}
	texts := map[string][]byte{}
	for _, pattern := range []string{"*.yaml", "*.json"} {
		paths, _ := filepath.Glob(filepath.Join(out, pattern))
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[filepath.Base(path)] = text
		}
	}
	return texts
}

const command = "ppl task /study --of 3 --parallel 2"

func TestKubernetes(t *testing.T) {
	var job batchv1.Job
	if err := yaml.UnmarshalStrict(manifests(t, "kubernetes", "--volume", "claim")["kubernetes.yaml"], &job); err != nil {
		t.Fatal(err)
	}
	s := job.Spec
	if job.Kind != "Job" || *s.CompletionMode != batchv1.IndexedCompletion || *s.Completions != 3 || *s.Parallelism != 3 || *s.BackoffLimitPerIndex < 1 {
		t.Errorf("%+v", job)
	}
	pod := s.Template.Spec
	if c := pod.Containers[0]; strings.Join(c.Command, " ") != command || c.VolumeMounts[0].Name != pod.Volumes[0].Name || c.Resources.Requests.Cpu().Value() != 2 {
		t.Errorf("%+v", c)
	}
	if pod.Volumes[0].PersistentVolumeClaim.ClaimName != "claim" || pod.RestartPolicy != "Never" {
		t.Errorf("%+v", pod)
	}
}

func TestGoogleCloudBatch(t *testing.T) {
	var job batchpb.Job
	if err := protojson.Unmarshal(manifests(t, "gcp-batch", "--volume", "server:/studies/one")["gcp-batch.json"], &job); err != nil {
		t.Fatal(err) // unknown names are errors
	}
	g := job.TaskGroups[0]
	c := g.TaskSpec.Runnables[0].GetContainer()
	if g.TaskCount != 3 || c.Entrypoint+" "+strings.Join(c.Commands, " ") != command || g.TaskSpec.ComputeResource.CpuMilli != 2000 ||
		g.TaskSpec.Volumes[0].GetNfs().Server != "server" || c.Volumes[0] != g.TaskSpec.Volumes[0].MountPath+":/study" {
		t.Errorf("%v", &job)
	}
}

func TestAWSBatch(t *testing.T) {
	texts := manifests(t, "aws-batch", "--volume", "fs-1", "--queue", "spot")
	var definition batch.RegisterJobDefinitionInput
	strictly(t, texts["aws-job-definition.json"], &definition)
	var job batch.SubmitJobInput
	strictly(t, texts["aws-job.json"], &job)
	c := definition.ContainerProperties
	if *job.ArrayProperties.Size != 3 || *job.JobDefinition != *definition.JobDefinitionName || strings.Join(c.Command, " ") != command ||
		*c.Volumes[0].Name != *c.MountPoints[0].SourceVolume || *c.Volumes[0].EfsVolumeConfiguration.FileSystemId != "fs-1" {
		t.Errorf("%+v %+v", definition, job)
	}
}

// strictly decodes input of the command aws, and checks that the names of its members begin with a
// small letter. Package json alone would accept them in any case.
func strictly(t *testing.T, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", reflect.TypeOf(into), err)
	}
	var any map[string]json.RawMessage
	if err := json.Unmarshal(text, &any); err != nil {
		t.Fatal(err)
	}
	for name := range any {
		if strings.ToLower(name[:1]) != name[:1] {
			t.Errorf("%s begins with a capital letter", name)
		}
	}
}
