{{- /* The API reference, one section for each struct of the API, in the order of the fields.
  Kinds of types: 0 alias, 1 basic, 3 map, 4 pointer, 5 slice, 6 struct (types.Kind of crd-ref-docs). */ -}}

{{- define "gvList" -}}
# API reference

<!-- Generated from the comments in api/v1alpha1 by `make docs-reference`. Do not edit. -->

{{ range $gv := . -}}
`apiVersion: {{ $gv.GroupVersionString }}`. `kubectl explain benchmarkrun --recursive` shows the same fields.

A field is optional unless it is *required*. The API server also checks the form of texts and rules between fields: its message,
and that of `kubectl benchrun validate`, names what is wrong. A specification cannot be changed, except as said at
[BenchmarkRun](#benchmarkrun).
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
{{- else if and (eq .Kind 6) (eq .Package $in.package) (not (hasKey $in.seen .Name)) (not (regexMatch "(Sweep|Point)$" .Name)) -}}
{{- $_ := set $in.seen .Name true -}}
{{ template "section" $in }}
{{- range .Members -}}{{- if ne .Name "operatorState" -}}
{{- template "walk" dict "type" .Type "package" $in.package "path" (print $in.path (ternary "." "" (ne $in.path "")) .Name)
  "seen" $in.seen -}}
{{- end -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* section is a struct. That it is what its field says is not repeated, nor is a field that another struct has, too. */ -}}
{{- define "section" }}
{{- $type := .type }}{{ $path := .path }}{{ $seen := .seen }}
## {{ .type.Name }}

{{ with .path }}`{{ . }}`
{{ end -}}
{{ $doc := .type.Doc | replace "\n" " " -}}
{{ if .path -}}
{{ $doc = regexReplaceAll (printf "^%s (is|are|claims|counts|names) [^.]*(\\.|$) *" .type.Name) $doc "" -}}
{{ $short := regexReplaceAll (printf "^%s " .type.Name) $doc "" -}}
{{ if ne $short $doc }}{{ $doc = print (upper (substr 0 1 $short)) (substr 1 -1 $short) }}{{ end -}}
{{ end -}}
{{ if $doc }}{{ if .path }}
{{ end -}}
{{ template "text" $doc }}
{{ end -}}
{{- $as := dict -}}
{{- range .type.Members }}{{ if ne .Name "operatorState" }}
{{- $key := print .Name " " .Doc }}{{ $first := get $seen $key -}}
{{- if and $first (gt (len .Doc) 30) (not (regexMatch "Sweep$" .Type.Name)) -}}
{{- $_ := set $as $first (append (default list (get $as $first)) (print "`" .Name "`")) -}}
{{- else -}}
{{- $_ := set $seen $key $type.Name }}
- **{{ .Name }}** ({{ template "type" .Type }})
{{- template "bounds" dict "field" . "status" (hasPrefix "status" $path) }}
{{ template "description" . }}
{{- end -}}
{{- end }}{{ end }}
{{- range $first, $names := $as }}
- {{ join ", " $names }}: as in [{{ $first }}](#{{ lower $first }})
{{- end }}
{{ end -}}

{{- define "text" }}{{ . | replace "\\" "\\\\" | replace "<" "&lt;" | wrap 126 }}{{ end -}}

{{- /* description without the name, the bounds and the default that stand before it. Parameters are described at the workload. */ -}}
{{- define "description" }}
{{- $doc := .Doc | replace "\n" " " -}}
{{- $doc = regexReplaceAll " From [0-9]+ to [0-9]+; unset:" $doc " Unset:" -}}
{{- $doc = regexReplaceAll " From [0-9]+ to [0-9]+\\." $doc "" -}}
{{- if .Default -}}
{{- $doc = regexReplaceAll " (From [0-9]+ to [0-9]+; d|D)efaults to [A-Za-z0-9 ]+\\." $doc "" -}}
{{- $doc = regexReplaceAll "; defaults to [A-Za-z0-9.]+\\." $doc "." -}}
{{- end -}}
{{- $short := regexReplaceAll (printf "^%s (is|are) " .Name) $doc "" -}}
{{- $short = regexReplaceAll (printf "^%s ([a-z]+s) " .Name) $short "$1 " -}}
{{- if and (ne $short $doc) (regexMatch "^[A-Za-z]+[ ,]" $short) }}{{ $doc = print (upper (substr 0 1 $short)) (substr 1 -1 $short) }}{{ end }}
{{- if regexMatch "Sweep$" .Type.Name }}{{ $names := list -}}
{{- range .Type.Members }}{{ $names = append $names (print "`" .Name "`") }}{{ end -}}
{{- $doc = print "Lists of values of " (join ", " $names) "." (replace "sweep of values to measure. Unset: those above." "" $doc) -}}
{{- end }}
{{ $doc | replace "\\" "\\\\" | replace "<" "&lt;" | wrap 124 | indent 2 }}
{{- end -}}

{{- define "type" -}}
{{- if eq .Kind 3 -}}map[string]{{ template "type" .ValueType }}
{{- else if eq .Kind 5 -}}\[\]{{ template "type" .UnderlyingType }}
{{- else if regexMatch "(Sweep|Point)$" .Name -}}object
{{- else if or (eq .Kind 4) (and (eq .Kind 0) .UnderlyingType) -}}{{ template "type" .UnderlyingType }}
{{- else if eq .Name "Quantity" -}}
[Quantity](https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/)
{{- else -}}{{ markdownRenderTypeLink . }}
{{- end -}}
{{- end -}}

{{- /* bounds prints what a field must hold, and its default. What a status holds is not checked. Values that the description names
  are not listed, nor those of a field with a page of its own. A list also carries the markers of its items. */ -}}
{{- define "bounds" -}}
{{- $m := .field.Markers }}{{ $doc := .field.Doc }}{{ $v := "kubebuilder:validation:" -}}
{{- if not .status -}}
{{- if index $m "required" }}, required{{ end -}}
{{- template "range" dict "low" (index $m (print $v "Minimum")) "high" (index $m (print $v "Maximum")) -}}
{{- end -}}
{{- range index $m (print $v "Enum") }}{{ $values := . }}{{ $named := gt (len .) 12 -}}
{{- if not $named }}{{ $named = true }}{{ range . }}{{ if not (contains . $doc) }}{{ $named = false }}{{ end }}{{ end }}{{ end -}}
{{- if not $named }}, {{ range $i, $value := $values }}{{ if $i }}, {{ end }}`{{ $value }}`{{ end }}{{ end -}}
{{- end -}}
{{- if and .field.Default (not (hasPrefix "{" .field.Default)) }}, default `{{ .field.Default }}`{{ end -}}
{{- end -}}

{{- define "range" -}}
{{- $low := "" }}{{ range .low }}{{ $low = printf "%v" . }}{{ if contains "e+" $low }}{{ $low = printf "%.0f" . }}{{ end }}{{ end -}}
{{- $high := "" }}{{ range .high }}{{ $high = printf "%v" . }}{{ if contains "e+" $high }}{{ $high = printf "%.0f" . }}{{ end }}{{ end -}}
{{- if and $low $high }}, {{ $low }}{{ if ne $low $high }}–{{ $high }}{{ end }}
{{- else if $low }}, at least {{ $low }}
{{- else if $high }}, at most {{ $high }}
{{- end -}}
{{- end -}}
