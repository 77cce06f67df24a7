{{- define "benchrun.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name }}
{{- $default := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) }}
{{- .Values.fullnameOverride | default $default | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- /* benchrun.clusterName begins the names of objects without a namespace: releases of the same name, each for namespaces of its
own, must not share them. */}}
{{- define "benchrun.clusterName" -}}
{{ include "benchrun.fullname" . }}{{ if .Values.watchNamespaces }}-{{ .Release.Namespace }}{{ end }}
{{- end }}

{{- define "benchrun.selector" -}}
app.kubernetes.io/name: benchrun
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: manager
{{- end }}

{{- define "benchrun.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/version: {{ regexReplaceAll "@.*" (.Values.image.tag | default .Chart.AppVersion) "" | trunc 63 | trimAll "-_." | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "benchrun.selector" . }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "benchrun.serviceAccount" -}}
{{- if and .Values.serviceAccount.create (eq .Values.serviceAccount.name "default") }}
{{- fail "serviceAccount.name is default, which every namespace has: set serviceAccount.create to false, or use another name" }}
{{- end -}}
{{ .Values.serviceAccount.name | default (include "benchrun.fullname" .) }}
{{- end }}

{{- define "benchrun.subject" -}}
- kind: ServiceAccount
  name: {{ include "benchrun.serviceAccount" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- /* benchrun.image is the name of one of the three images: value is its place in values.yaml, name that of the release's own.
A chart of a release has files/release.yaml, with their digests, and maybe their registry. */}}
{{- define "benchrun.image" -}}
{{- $release := .root.Files.Get "files/release.yaml" | fromYaml }}
{{- $registry := .root.Values.registry | default $release.registry }}
{{- $repository := .image.repository }}
{{- if and $registry (not $repository) }}
{{- $repository = printf "%s/%s" (trimSuffix "/" $registry) .name }}
{{- end }}
{{- $message := printf "neither registry nor %s.repository is set: name the registry that has the images (README.md, Install)" .value }}
{{- $image := printf "%s:%s" (required $message $repository) (.image.tag | default .root.Chart.AppVersion) }}
{{- if .image.digest }}
{{- $image = printf "%s@%s" $image .image.digest }}
{{- else if not (or .image.repository .image.tag) }}
{{- with get ($release.digests | default dict) .name }}
{{- $image = printf "%s@%s" $image . }}
{{- end }}
{{- end }}
{{- $image }}
{{- end }}

{{- /* benchrun.managerImage is completed with the registry as the manager itself does it for the other images. */}}
{{- define "benchrun.managerImage" -}}
{{- $image := include "benchrun.image" (dict "root" . "value" "image" "name" "manager" "image" .Values.image) }}
{{- if and .Values.imageRegistry (not (regexMatch "^(localhost|[^/]*[.:][^/]*)/" $image)) }}
{{- $image = printf "%s/%s" (trimSuffix "/" .Values.imageRegistry) $image }}
{{- end }}
{{- $image }}
{{- end }}

{{- /* benchrun.metricsSecret is the name of the Secret with the certificate of the metrics endpoint, or empty. */}}
{{- define "benchrun.metricsSecret" -}}
{{- with .Values.metrics }}
{{- if and .enabled (or .certificate.secretName .certificate.certManager.enabled) }}
{{- .certificate.secretName | default (printf "%s-metrics-tls" (include "benchrun.fullname" $)) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* benchrun.podUsers is Image or Cluster. */}}
{{- define "benchrun.podUsers" -}}
{{- if ne .Values.podUsers "Auto" }}
{{- .Values.podUsers }}
{{- else if .Capabilities.APIVersions.Has "security.openshift.io/v1" }}
{{- "Cluster" }}
{{- else }}
{{- "Image" }}
{{- end }}
{{- end }}
