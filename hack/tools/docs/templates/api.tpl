{{- /* The API reference, one section for each struct of the API, in the order of the fields.
  Kinds of types: 0 alias, 1 basic, 3 map, 4 pointer, 5 slice, 6 struct (types.Kind of crd-ref-docs). */ -}}

{{- define "gvList" -}}
# API reference

<!-- Generated from the comments in api/v1alpha1 by `make docs-reference`. Do not edit. -->

{{ range $gv := . -}}
API group and version: `{{ $gv.GroupVersionString }}`. `kubectl explain benchmarkrun --recursive` shows the same fields.

When you create a run, the API server checks types, bounds and rules and stores the defaults. A field is optional unless it is
marked as *required*. A specification cannot be changed later, except for the fields named at [BenchmarkRun](#benchmarkrun) and
[BenchmarkComparison](#benchmarkcomparison).
{{ $seen := dict -}}
{{ range $gv.SortedKinds -}}
{{ template "walk" dict "type" ($gv.TypeForKind .) "package" ($gv.TypeForKind .).Package "path" "" "seen" $seen -}}
{{ end -}}
{{ end -}}
{{ end -}}

{{- /* walk renders a struct and then the structs of its fields. */ -}}
{{- define "walk" -}}
{{- $in := . -}}
{{- with .type -}}
{{- if eq .Kind 3 -}}
{{- template "walk" dict "type" .ValueType "package" $in.package "path" (print $in.path ".*") "seen" $in.seen -}}
{{- else if eq .Kind 5 -}}
{{- template "walk" dict "type" .UnderlyingType "package" $in.package "path" (print $in.path "[]") "seen" $in.seen -}}
{{- else if or (eq .Kind 0) (eq .Kind 4) -}}
{{- template "walk" dict "type" .UnderlyingType "package" $in.package "path" $in.path "seen" $in.seen -}}
{{- else if and (eq .Kind 6) (eq .Package $in.package) (not (hasKey $in.seen .Name)) -}}
{{- $_ := set $in.seen .Name true -}}
{{ template "section" $in }}
{{- range .Members -}}{{- if ne .Name "operatorState" -}}
{{- template "walk" dict "type" .Type "package" $in.package "path" (print $in.path (ternary "." "" (ne $in.path "")) .Name)
  "seen" $in.seen -}}
{{- end -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* section is a struct. That it is what its field says is not repeated. */ -}}
{{- define "section" }}
## {{ .type.Name }}

{{ with .path }}Field `{{ . }}`.
{{ end -}}
{{ $doc := .type.Doc | replace "\n" " " -}}
{{ if .path -}}
{{ $doc = regexReplaceAll (printf "^%s (is|are|claims|counts|names) [^.]*(\\.|$) *" .type.Name) $doc "" -}}
{{ end -}}
{{ if $doc }}{{ if .path }}
{{ end -}}
{{ $doc | replace "\\" "\\\\" | replace "<" "&lt;" | wrap 126 }}
{{ end -}}
{{ if and .path (regexMatch "(Sweep|Point)$" .type.Name) -}}
{{ template "parameters" .type }}
{{ else -}}
{{ if .type.GVK }}
- **apiVersion** (string): `{{ .type.GVK.Group }}/{{ .type.GVK.Version }}`
- **kind** (string): `{{ .type.GVK.Kind }}`
{{- end }}
{{- range .type.Members }}
- **{{ .Name }}** ({{ if eq .Name "operatorState" }}object{{ else }}{{ template "type" .Type }}{{ end }})
{{- if hasPrefix "status" $.path }}{{ template "choices" . }}{{ else }}{{ template "bounds" . }}{{ end }}
{{ template "description" . }}
{{- end }}
{{ template "rules" .type -}}
{{ end -}}
{{ end -}}

{{- /* parameters are those of a sweep or a point: the workload describes them. */ -}}
{{- define "parameters" }}
{{ $names := list -}}
{{ range .Members }}{{ $names = append $names (print "`" .Name "`" (ternary " (required)" "" (not (empty (index .Markers "required"))))) }}{{ end -}}
{{ print "Fields: " (join ", " $names) "." | wrap 126 }}
{{- end -}}

{{- /* rules of a type, but for those about changes. */ -}}
{{- define "rules" }}
{{- $rules := list -}}
{{ range index .Markers "kubebuilder:validation:XValidation" -}}
{{ if not (regexMatch "cannot be changed|^the member " .Message) }}{{ $rules = append $rules .Message }}{{ end -}}
{{ end -}}
{{ if $rules }}
Rules:
{{ range uniq $rules }}
- {{ . | replace "\\" "\\\\" | replace "<" "&lt;" | wrap 124 | replace "\n" "\n  " }}
{{- end }}
{{ end -}}
{{ end -}}

{{- /* description without the name, the bounds and the default that stand before it. */ -}}
{{- define "description" }}
{{- $doc := .Doc | replace "\n" " " -}}
{{- $doc = regexReplaceAll " From [0-9]+ to [0-9]+; unset:" $doc " Unset:" -}}
{{- $doc = regexReplaceAll " From [0-9]+ to [0-9]+\\." $doc "" -}}
{{- if .Default -}}
{{- $doc = regexReplaceAll " (From [0-9]+ to [0-9]+; d|D)efaults to [A-Za-z0-9]+\\." $doc "" -}}
{{- end -}}
{{- $short := regexReplaceAll (printf "^%s (is|are) " .Name) $doc "" -}}
{{- $short = regexReplaceAll (printf "^%s ([a-z]+s) " .Name) $short "$1 " -}}
{{- if and (ne $short $doc) (regexMatch "^[A-Za-z]+[ ,]" $short) }}{{ $doc = print (upper (substr 0 1 $short)) (substr 1 -1 $short) }}{{ end }}
{{ $doc | replace "\\" "\\\\" | replace "<" "&lt;" | wrap 124 | indent 2 }}
{{- if and (ne .Type.Kind 6) (not (and .Type.UnderlyingType (eq .Type.UnderlyingType.Kind 6))) -}}
{{- range index .Markers "kubebuilder:validation:XValidation" }}{{ if not (contains "cannot be changed" .Message) }}

{{ print "Rule: " .Message | replace "\\" "\\\\" | replace "<" "&lt;" | wrap 124 | indent 2 }}
{{- end -}}{{- end -}}
{{- end -}}
{{- end -}}

{{- /* choices are the values that a field of a status may have. */ -}}
{{- define "choices" -}}
{{- range index .Markers "kubebuilder:validation:Enum" }}, {{ template "choice" . }}{{ end -}}
{{- end -}}

{{- define "type" -}}
{{- if eq .Kind 3 -}}map of {{ template "type" .ValueType }}
{{- else if eq .Kind 5 -}}list of {{ template "type" .UnderlyingType }}
{{- else if or (eq .Kind 4) (and (eq .Kind 0) .UnderlyingType) -}}{{ template "type" .UnderlyingType }}
{{- else if eq .Name "Quantity" -}}
[Quantity](https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/)
{{- else -}}{{ markdownRenderTypeLink . }}
{{- end -}}
{{- end -}}

{{- /* bounds prints what a field must hold, and its default. A list also carries the markers of its items. */ -}}
{{- define "bounds" -}}
{{- if index .Markers "required" }}, required{{ end -}}
{{- template "limits" dict "type" .Type "markers" .Markers "each" "" -}}
{{- if and .Default (ne .Default "{  }") }}, default `{{ .Default }}`{{ end -}}
{{- end -}}

{{- define "limits" -}}
{{- $in := . -}}
{{- $m := .markers -}}
{{- $v := "kubebuilder:validation:" -}}
{{- $kind := .type.Kind -}}
{{- $items := .type -}}
{{- if and (or (eq $kind 0) (eq $kind 4)) .type.UnderlyingType -}}
{{- $items = .type.UnderlyingType -}}
{{- $kind = $items.Kind -}}
{{- end -}}
{{- if eq $kind 6 -}}
{{- if index $m (print $v "MinProperties") }}, {{ .each }}not empty{{ end -}}
{{- else if eq $kind 5 -}}
{{- template "range" dict "each" .each "unit" " items" "low" (index $m (print $v "MinItems")) "high" (index $m (print $v "MaxItems")) -}}
{{- template "scalar" dict "each" "each " "prefix" (print $v "items:") "markers" $m -}}
{{- if ne $items.UnderlyingType.Kind 5 }}{{ template "limits" dict "type" $items.UnderlyingType
  "markers" $items.UnderlyingType.Markers "each" "each " }}{{ end -}}
{{- else if eq $kind 3 -}}
{{- template "range" dict "each" .each "unit" " entries" "low" (index $m (print $v "MinProperties"))
  "high" (index $m (print $v "MaxProperties")) -}}
{{- template "limits" dict "type" $items.ValueType "markers" $items.ValueType.Markers "each" "each value " -}}
{{- else -}}
{{- template "scalar" dict "each" .each "prefix" $v "markers" $m -}}
{{- end -}}
{{- end -}}

{{- define "scalar" -}}
{{- $in := . -}}
{{- $m := .markers -}}
{{- $v := .prefix -}}
{{- template "range" dict "each" .each "unit" "" "low" (index $m (print $v "Minimum")) "high" (index $m (print $v "Maximum")) -}}
{{- template "range" dict "each" .each "unit" " characters" "low" (index $m (print $v "MinLength"))
  "high" (index $m (print $v "MaxLength")) -}}
{{- range index $m (print $v "Enum") }}, {{ $in.each }}{{ template "choice" . }}{{ end -}}
{{- range index $m (print $v "Pattern") }}, {{ $in.each }}matching `{{ . }}`{{ end -}}
{{- end -}}

{{- define "range" -}}
{{- $low := "" }}{{ range .low }}{{ $low = printf "%v" . }}{{ if contains "e+" $low }}{{ $low = printf "%.0f" . }}{{ end }}{{ end -}}
{{- $high := "" }}{{ range .high }}{{ $high = printf "%v" . }}{{ if contains "e+" $high }}{{ $high = printf "%.0f" . }}{{ end }}{{ end -}}
{{- if and $low $high }}, {{ .each }}{{ $low }}{{ if ne $low $high }}–{{ $high }}{{ end }}{{ .unit }}
{{- else if $low }}, {{ .each }}at least {{ $low }}{{ .unit }}
{{- else if $high }}, {{ .each }}at most {{ $high }}{{ .unit }}
{{- end -}}
{{- end -}}

{{- define "choice" -}}
{{- $last := sub (len .) 1 -}}
{{- range $i, $value := . }}{{ if $i }}{{ if eq $i (int $last) }} or {{ else }}, {{ end }}{{ end }}`{{ $value }}`{{ end -}}
{{- end -}}
