{{- define "benchrun.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "benchrun.selector" -}}
app.kubernetes.io/name: benchrun
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: manager
{{- end }}

{{- define "benchrun.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "benchrun.selector" . }}
{{- end }}

{{- define "benchrun.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "benchrun.fullname" .) }}
{{- end }}

{{- define "benchrun.subject" -}}
- kind: ServiceAccount
  name: {{ include "benchrun.serviceAccount" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}
