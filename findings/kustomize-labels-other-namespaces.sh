#!/bin/sh
# kustomize 5.7.1: `labels` with `includeSelectors` also reaches the pod selectors of a NetworkPolicy's peers, where they
# choose pods of another namespace that the kustomization does not make: a rule that lets pods ask kube-dns then matches
# no pod, and nothing resolves. The policy's own empty selector, the namespace selector and `matchExpressions` stay.
# Met by: whoever adds a team's label to somebody's base; the build says nothing.
# Source: built from two files of a few lines; the field list is api/internal/konfig/builtinpluginconsts/commonlabels.go.
set -eu
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
GOBIN=$folder GOPATH=$folder/go GOFLAGS=-modcacherw go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1 2>log
cat >policy.yaml <<'YAML'
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: resolve }
spec:
  podSelector: {}
  policyTypes: [Egress]
  egress:
    - to:
        - namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: kube-system } }
          podSelector: { matchLabels: { k8s-app: kube-dns } }
    - to:
        - namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: kube-system } }
          podSelector: { matchExpressions: [{ key: k8s-app, operator: In, values: [kube-dns] }] }
YAML
cat >kustomization.yaml <<'YAML'
resources: [policy.yaml]
labels: [{ pairs: { team: vault }, includeSelectors: true }]
YAML
./kustomize build . | tee built
# Once on the policy itself, and once on the pods of kube-system that are chosen by `matchLabels`.
[ "$(grep -c 'team: vault' built)" = 2 ] && grep -A1 'k8s-app: kube-dns' built | grep -q 'team: vault'
