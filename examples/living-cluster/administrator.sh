#!/bin/sh
# An administrator's day: more servers, a new version of them, a node that is emptied for an hour.
set -e
sleep 10m
kubectl scale deployment web --replicas=6
sleep 10m
kubectl set image deployment/web web=web:2
sleep 10m
kubectl drain node-1 --ignore-daemonsets --force
sleep 1h
kubectl uncordon node-1
kubectl get deployments,statefulsets,jobs,nodes
