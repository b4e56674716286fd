#!/usr/bin/env bash
# A Kubernetes scheduler in a shell: every few seconds it gives each waiting pod, oldest first, a node without a pod.
#
#   scheduler.sh [SECONDS]
#
# KUBECONFIG says where the API is. SCHEDULER_NAME is what pods call the scheduler. Needs kubectl and curl.
set -euo pipefail

period=${1:-6}
name=${SCHEDULER_NAME:-default-scheduler}
server=$(kubectl config view --minify --output jsonpath='{.clusters[0].cluster.server}')

waiting() {
  kubectl get pods --all-namespaces --sort-by=.metadata.creationTimestamp \
    --field-selector="spec.nodeName=,spec.schedulerName=$name" \
    --output jsonpath='{range .items[*]}{.metadata.namespace} {.metadata.name}{"\n"}{end}'
}

free_nodes() {
  local used
  used=$(kubectl get pods --all-namespaces \
    --field-selector='spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed' \
    --output jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}')
  kubectl get nodes --output jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}' |
    grep --invert-match --line-regexp --fixed-strings --regexp="$used" || true # none is free
}

place() { # NAMESPACE POD NODE
  curl --silent --show-error --fail --max-time 10 --output /dev/null --header 'Content-Type: application/json' \
    --data '{"apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": "'"$3"'"},
             "metadata": {"name": "'"$2"'"}}' \
    "$server/api/v1/namespaces/$1/pods/$2/binding"
}

while true; do
  pods=$(waiting)
  if [ -n "$pods" ]; then
    mapfile -t nodes < <(free_nodes)
    while [ ${#nodes[@]} -gt 0 ] && read -r namespace pod; do
      if place "$namespace" "$pod" "${nodes[0]}"; then
        echo "$(date +%T) $pod -> ${nodes[0]}"
        nodes=("${nodes[@]:1}")
      fi
    done <<< "$pods"
  fi
  sleep "$period"
done
