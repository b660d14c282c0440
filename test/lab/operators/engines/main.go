// Syncs a file of manifests as Argo CD and Flux do, with the engines of both: `engines argo|flux FILE`, with the cluster in
// KUBECONFIG. Prints one line of JSON: what differed before, and what was done.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/argoproj/gitops-engine/pkg/cache"
	"github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/argoproj/gitops-engine/pkg/sync"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/sync/hook"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/gitops-engine/pkg/utils/tracing"
	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

type outcome struct {
	Differences []string `json:"differences"`
	Failed      []string `json:"failed"`
}

func main() {
	log.SetLogger(logr.Discard())
	result, err := run(os.Args[1], os.Args[2])
	if err != nil {
		result.Failed = append(result.Failed, err.Error())
	}
	json.NewEncoder(os.Stdout).Encode(result)
}

func run(manner, file string) (outcome, error) {
	var none outcome
	data, err := os.ReadFile(file)
	if err != nil {
		return none, err
	}
	objects, err := kube.SplitYAML(data)
	if err != nil {
		return none, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return none, err
	}
	config.QPS, config.Burst = 200, 400
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	if manner == "argo" {
		return argo(ctx, config, objects)
	}
	return flux(ctx, config, objects)
}

// Argo CD's engine marks what it manages by an annotation.
const mark = "argocd.argoproj.io/tracking-id"

func argo(ctx context.Context, config *rest.Config, objects []*unstructured.Unstructured) (outcome, error) {
	result := outcome{Differences: []string{}, Failed: []string{}}
	for _, object := range objects {
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[mark] = fmt.Sprintf("ori:%s:%s", object.GetKind(), object.GetName())
		object.SetAnnotations(annotations)
	}
	managed := func(r *cache.Resource) bool { return r.Resource != nil && r.Resource.GetAnnotations()[mark] != "" }
	clusterCache := cache.NewClusterCache(config, cache.SetLogr(logr.Discard()),
		cache.SetPopulateResourceInfoHandler(func(un *unstructured.Unstructured, _ bool) (any, bool) {
			return nil, un.GetAnnotations()[mark] != ""
		}))
	if err := clusterCache.EnsureSynced(); err != nil {
		return result, err
	}
	defer clusterCache.Invalidate()
	reconcile := func() (sync.ReconciliationResult, error) {
		live, err := clusterCache.GetManagedLiveObjs(objects, managed)
		return sync.Reconcile(objects, live, "ori", clusterCache), err
	}
	state, err := reconcile()
	if err != nil {
		return result, err
	}
	differences, err := diff.DiffArray(state.Target, state.Live)
	if err != nil {
		return result, err
	}
	for at, each := range differences.Diffs {
		object := state.Target[at]
		if object == nil {
			object = state.Live[at]
		}
		if each.Modified && !hook.IsHook(object) {
			result.Differences = append(result.Differences, object.GetKind()+" "+object.GetName())
		}
	}
	// An automated sync begins when something differs.
	if len(result.Differences) == 0 {
		return result, nil
	}
	// As Argo CD's controller, a new context at each look: the engine's own Sync keeps the live objects of its beginning, and
	// so never sees that a hook has ended.
	var phase common.OperationPhase
	var message string
	var done []common.ResourceSyncResult
	started := metav1.Now()
	for !phase.Completed() {
		if ctx.Err() != nil {
			return result, fmt.Errorf("%s: %s", phase, message)
		}
		context, cleanup, err := sync.NewSyncContext("1", state, config, config, &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}, "ori",
			clusterCache.GetOpenAPISchema(), sync.WithLogr(logr.Discard()), sync.WithInitialState(phase, message, done, started))
		if err != nil {
			return result, err
		}
		context.Sync()
		phase, message, done = context.GetState()
		cleanup()
		time.Sleep(200 * time.Millisecond)
		if state, err = reconcile(); err != nil {
			return result, err
		}
	}
	if !phase.Successful() {
		result.Failed = append(result.Failed, message)
	}
	for _, each := range done {
		if each.Status == common.ResultCodeSyncFailed || each.HookPhase == common.OperationFailed || each.HookPhase == common.OperationError {
			result.Failed = append(result.Failed, fmt.Sprintf("%s %s: %s", each.ResourceKey.Kind, each.ResourceKey.Name, each.Message))
		}
	}
	return result, nil
}

// As kustomize-controller calls it.
func flux(ctx context.Context, config *rest.Config, objects []*unstructured.Unstructured) (outcome, error) {
	result := outcome{Differences: []string{}, Failed: []string{}}
	kubeClient, err := client.New(config, client.Options{})
	if err != nil {
		return result, err
	}
	poller := polling.NewStatusPoller(kubeClient, kubeClient.RESTMapper(), polling.Options{})
	manager := ssa.NewResourceManager(kubeClient, poller, ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"})
	manager.SetOwnerLabels(objects, "ori", "flux-system")
	options := ssa.DefaultApplyOptions()
	options.ForceSelector = map[string]string{"kustomize.toolkit.fluxcd.io/force": "enabled"}
	changes, err := manager.ApplyAllStaged(ctx, objects, options)
	if err != nil {
		return result, err
	}
	for _, entry := range changes.Entries {
		if entry.Action != ssa.UnchangedAction {
			result.Differences = append(result.Differences, fmt.Sprintf("%s %s", entry.Action, entry.Subject))
		}
	}
	return result, nil
}
