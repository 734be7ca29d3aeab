package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"

	"go.yaml.in/yaml/v4"

	durable "github.com/ppl-lang/ppl/internal/files"
)

// Manifest describes the tasks of a study for a scheduler that reads manifest files.
type Manifest struct {
	Name  string // of the job
	Tasks int
	Image string // of a container with the command ppl
	Mount string // the folder of the study within the container

	// Volume is the volume mounted there. For Kubernetes it is the name of a persistent volume
	// claim, for AWS the id of an EFS file system, and for Google Cloud SERVER:/PATH of NFS.
	Volume string

	CPUs   int    // of a task; 0: 1
	Memory int    // MiB; 0: 2048
	Queue  string // of AWS Batch
}

// ManifestKind is a scheduler with the form of its manifests.
type ManifestKind struct {
	Name  string
	Files []string // names of the manifests
	Next  string   // the command that submits them
	Most  int      // largest number of tasks in an array
	write func(m Manifest) ([]any, error)
}

// ManifestKinds lists the supported schedulers.
func ManifestKinds() []ManifestKind {
	return []ManifestKind{
		{"kubernetes", []string{"kubernetes.yaml"}, "kubectl apply -f %s", 100_000, kubernetes},
		{"aws-batch", []string{"aws-job-definition.json", "aws-job.json"},
			"aws batch register-job-definition --cli-input-json file://%s && aws batch submit-job --cli-input-json file://%s", 10_000, awsBatch},
		{"gcp-batch", []string{"gcp-batch.json"}, "gcloud batch jobs submit --config %s", 10_000, gcpBatch},
	}
}

type object = map[string]any

func (m Manifest) command() []string {
	return []string{"ppl", "task", m.Mount, "--of", strconv.Itoa(m.Tasks), "--parallel", strconv.Itoa(m.CPUs)}
}

// kubernetes returns an indexed job: each task is a pod with the number of its task, which is
// recreated if it is lost.
func kubernetes(m Manifest) ([]any, error) {
	resources := object{"cpu": strconv.Itoa(m.CPUs), "memory": fmt.Sprintf("%dMi", m.Memory)}
	return []any{object{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": object{"name": m.Name},
		"spec": object{
			"completions": m.Tasks, "parallelism": m.Tasks, "completionMode": "Indexed",
			"backoffLimitPerIndex": 5, "maxFailedIndexes": m.Tasks,
			"podFailurePolicy": object{"rules": []object{{"action": "Ignore", "onPodConditions": []object{{"type": "DisruptionTarget", "status": "True"}}}}},
			"template": object{"spec": object{
				"restartPolicy": "Never",
				"containers": []object{{
					"name": "fits", "image": m.Image, "command": m.command(),
					"resources":    object{"requests": resources, "limits": object{"memory": resources["memory"]}},
					"volumeMounts": []object{{"name": "study", "mountPath": m.Mount}},
				}},
				"volumes": []object{{"name": "study", "persistentVolumeClaim": object{"claimName": m.Volume}}},
			}},
		},
	}}, nil
}

// awsBatch returns a job definition and an array job.
func awsBatch(m Manifest) ([]any, error) {
	if m.Queue == "" {
		return nil, errors.New("the manifest needs the name of a job queue")
	}
	job := object{"jobName": m.Name, "jobDefinition": m.Name, "jobQueue": m.Queue, "retryStrategy": object{"attempts": 5}}
	if m.Tasks > 1 { // an array has at least two
		job["arrayProperties"] = object{"size": m.Tasks}
	}
	return []any{object{
		"jobDefinitionName": m.Name, "type": "container",
		"containerProperties": object{
			"image": m.Image, "command": m.command(),
			"resourceRequirements": []object{{"type": "VCPU", "value": strconv.Itoa(m.CPUs)}, {"type": "MEMORY", "value": strconv.Itoa(m.Memory)}},
			"mountPoints":          []object{{"sourceVolume": "study", "containerPath": m.Mount}},
			"volumes":              []object{{"name": "study", "efsVolumeConfiguration": object{"fileSystemId": m.Volume, "transitEncryption": "ENABLED"}}},
		},
	}, job}, nil
}

// gcpBatch returns a job with a group of tasks.
func gcpBatch(m Manifest) ([]any, error) {
	server, remote, ok := cutColon(m.Volume)
	if !ok {
		return nil, errors.New("the volume must be that of an NFS server, SERVER:/PATH")
	}
	command := m.command()
	return []any{object{
		"taskGroups": []object{{
			"taskCount": strconv.Itoa(m.Tasks), "parallelism": strconv.Itoa(m.Tasks),
			"taskSpec": object{
				"runnables":       []object{{"container": object{"imageUri": m.Image, "entrypoint": command[0], "commands": command[1:], "volumes": []string{path.Join("/mnt/disks/study") + ":" + m.Mount}}}},
				"computeResource": object{"cpuMilli": strconv.Itoa(1000 * m.CPUs), "memoryMib": strconv.Itoa(m.Memory)},
				"maxRetryCount":   5,
				"volumes":         []object{{"nfs": object{"server": server, "remotePath": remote}, "mountPath": "/mnt/disks/study"}},
			},
		}},
		"logsPolicy": object{"destination": "CLOUD_LOGGING"},
	}}, nil
}

func cutColon(text string) (server, rest string, ok bool) {
	for i, c := range text {
		if c == ':' {
			return text[:i], text[i+1:], i > 0 && i+1 < len(text)
		}
	}
	return "", "", false
}

// Prepare writes the fits of a plan that have no result yet to the folder of a study, for tasks,
// and manifests that run them. It returns the names of the manifests and the number of fits.
// Without fits there are no manifests. When the tasks have ended, [Run] on the same folder makes
// missing fits and the tables.
func Prepare(ctx context.Context, plan *Plan, folder string, kind ManifestKind, m Manifest) (files []string, fits int, err error) {
	if err := plan.Check(); err != nil {
		return nil, 0, err
	}
	switch m.CPUs = max(m.CPUs, 1); {
	case m.Image == "":
		return nil, 0, errors.New("the manifest needs the image of a container with the command ppl")
	case m.Tasks < 1 || m.Tasks > kind.Most:
		return nil, 0, fmt.Errorf("the array can have from 1 to %d tasks, but not %d", kind.Most, m.Tasks)
	case m.Volume == "":
		return nil, 0, errors.New("the manifest needs the volume with the folder of the study")
	}
	if m.Memory <= 0 {
		m.Memory = 2048
	}
	j, err := openJournal(folder, "")
	if err != nil {
		return nil, 0, err
	}
	defer j.close()
	r := &run{plan: plan, options: RunOptions{Folder: folder}, journal: j, progress: Progress{Total: plan.Len()}}
	if err := r.writeRecord(false); err != nil {
		return nil, 0, err
	}
	p, err := writePack(filepath.Join(folder, taskFolder), &Job{Models: plan.models()}, r.todo(ctx))
	if err != nil || ctx.Err() != nil {
		return nil, 0, errors.Join(err, ctx.Err())
	}
	if p.count == 0 {
		return nil, 0, nil
	}
	m.Tasks = min(m.Tasks, p.count)
	contents, err := kind.write(m)
	if err != nil {
		return nil, 0, err
	}
	for i, content := range contents {
		path := filepath.Join(folder, kind.Files[i])
		var text []byte
		if filepath.Ext(path) == ".yaml" {
			text, err = yaml.Marshal(content)
		} else if text, err = json.MarshalIndent(content, "", "  "); err == nil {
			text = append(text, '\n')
		}
		if err != nil {
			return nil, 0, err
		}
		if err := durable.Replace(path, text); err != nil {
			return nil, 0, err
		}
		files = append(files, path)
	}
	return files, p.count, nil
}
