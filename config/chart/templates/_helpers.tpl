{{- define "lapse.account" -}}
{{- .Values.serviceAccount.name | default .Release.Name -}}
{{- end -}}

{{- define "lapse.selector" -}}
app.kubernetes.io/name: lapse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "lapse.labels" -}}
{{ include "lapse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "lapse.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The families that run, as {"families": […]}: the first word that names one decides. */}}
{{- define "lapse.families" -}}
{{- $words := .Values.controllers -}}
{{- $known := list "*" -}}
{{- $selected := list -}}
{{- range (.Files.Get "files/families.yaml" | fromYaml).families -}}
  {{- $name := .name -}}
  {{- $known = append (append $known $name) (printf "-%s" $name) -}}
  {{- $word := "" -}}
  {{- range $words -}}
    {{- if and (eq $word "") (or (eq . $name) (eq . (printf "-%s" $name))) -}}{{- $word = . -}}{{- end -}}
  {{- end -}}
  {{- if or (eq $word $name) (and (eq $word "") .defaultOn (has "*" $words)) -}}
    {{- $selected = append $selected . -}}
  {{- end -}}
{{- end -}}
{{- range $words -}}
  {{- if not (has . $known) -}}{{- fail (printf "controllers: %q is none of %s" . (join ", " $known)) -}}{{- end -}}
{{- end -}}
{{- if not $selected -}}{{- fail "controllers: nothing is left to run" -}}{{- end -}}
{{- toJson (dict "families" $selected) -}}
{{- end -}}

{{/* The open gates of one family, as {"gates": […]}. */}}
{{- define "lapse.gates" -}}
{{- $gates := .root.Values.featureGates -}}
{{- $opened := list -}}
{{- range .family.gates -}}
  {{- $open := .default -}}
  {{- $all := get (dict "alpha" "AllAlpha" "beta" "AllBeta") .stage -}}
  {{- if and $all (hasKey $gates $all) -}}{{- $open = get $gates $all -}}{{- end -}}
  {{- if hasKey $gates .name -}}{{- $open = get $gates .name -}}{{- end -}}
  {{- if $open -}}{{- $opened = append $opened . -}}{{- end -}}
{{- end -}}
{{- toJson (dict "gates" $opened) -}}
{{- end -}}

{{/* The rules of one family with the gates and the choices of the configuration as they are, as {"rules": […]}. */}}
{{- define "lapse.rules" -}}
{{- $rules := .family.rules -}}
{{- range (include "lapse.gates" . | fromJson).gates -}}{{- $rules = concat $rules .rules -}}{{- end -}}
{{- $config := .root.Values.config -}}
{{- range .family.choices -}}
  {{- $chosen := get (get $config .section | default dict) .field -}}
  {{- if hasKey . "value" -}}
    {{- if eq (toString $chosen) .value -}}{{- $rules = concat $rules .rules -}}{{- end -}}
  {{- else -}}
    {{- $items := .rules -}}
    {{- range ($chosen | default list) -}}
      {{- $name := splitn "." 2 . -}}
      {{- range $items -}}
        {{- $rules = append $rules (dict "apiGroups" (list ($name._1 | default "")) "resources" (list $name._0) "verbs" .verbs) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson (dict "rules" $rules) -}}
{{- end -}}

{{/* Where Lapse may impersonate service accounts, as {"cluster": true, "namespaces": […]}: off by default. */}}
{{- define "lapse.impersonation" -}}
{{- $cluster := false -}}
{{- $namespaces := list -}}
{{- $config := .Values.config -}}
{{- range (include "lapse.families" . | fromJson).families -}}
  {{- $section := get (dict "cleaner" "cleaner" "ttl-policy" "ttlPolicy") .name -}}
  {{- if $section -}}
    {{- $scope := get (get $config $section | default dict) "impersonation" | default "none" -}}
    {{- if kindIs "map" $scope -}}
      {{- $named := get $scope "namespaces" -}}
      {{- if or (not $named) (ne (len $scope) 1) -}}{{- fail (printf "config.%s.impersonation: must be none, cluster or {namespaces: [NAME, …]}" $section) -}}{{- end -}}
      {{- $namespaces = concat $namespaces $named -}}
    {{- else if eq (toString $scope) "cluster" -}}
      {{- $cluster = true -}}
    {{- else if ne (toString $scope) "none" -}}
      {{- fail (printf "config.%s.impersonation: must be none, cluster or {namespaces: [NAME, …]}" $section) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson (dict "cluster" $cluster "namespaces" ($namespaces | uniq | sortAlpha)) -}}
{{- end -}}

{{/* The webhooks of the families that run, as {"hooks": […]}. */}}
{{- define "lapse.hooks" -}}
{{- $hooks := list -}}
{{- if .Values.webhook.enabled -}}
{{- $author := ne .Values.actAs "controller" -}}
{{- range (include "lapse.families" . | fromJson).families -}}
  {{- range .webhooks -}}
    {{- if or $author (not .forAuthors) -}}{{- $hooks = append $hooks . -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}
{{- toJson (dict "hooks" $hooks) -}}
{{- end -}}

{{/* The Secret of the review path and of a self-managed certificate. cert-manager has the other name. */}}
{{- define "lapse.webhookSecret" -}}
{{- .Release.Name -}}-webhook{{- if .Values.webhook.certManager.enabled -}}-path{{- end -}}
{{- end -}}

{{/* What the process reads: a LapseConfiguration. */}}
{{- define "lapse.configuration" -}}
{{- $own := list "apiVersion" "kind" "controllers" "featureGates" "actAs" "dryRun" "webhook" "api" -}}
{{- range keys .Values.config -}}
  {{- if has . $own -}}{{- fail (printf "config.%s: there is a value of the chart for this" .) -}}{{- end -}}
{{- end -}}
{{- $configuration := dict
  "apiVersion" "lapse.dev/v1alpha1"
  "kind" "LapseConfiguration"
  "controllers" .Values.controllers
  "featureGates" .Values.featureGates
  "actAs" .Values.actAs
  "dryRun" .Values.dryRun
  "log" (dict "format" "json")
  "metrics" (dict "bindAddress" ":8080") -}}
{{- $namespace := .Release.Namespace -}}
{{- range (include "lapse.families" . | fromJson).families -}}
  {{- range .authorSections -}}
    {{- $_ := set $configuration . (dict "authorKeySecret" (dict "namespace" $namespace)) -}}
  {{- end -}}
{{- end -}}
{{- if .Values.readApi.enabled -}}
  {{- $_ := set $configuration "api" (dict "bindAddress" ":9444") -}}
{{- end -}}
{{- if (include "lapse.hooks" . | fromJson).hooks -}}
  {{- $webhook := dict "bindAddress" ":9443" -}}
  {{- if .Values.webhook.certManager.enabled -}}
    {{- $_ := set $webhook "certFile" "/etc/lapse-webhook/tls.crt" -}}
    {{- $_ := set $webhook "keyFile" "/etc/lapse-webhook/tls.key" -}}
  {{- else -}}
    {{- $hosts := list (printf "%s-webhook.%s.svc" .Release.Name .Release.Namespace) -}}
    {{- if .Values.readApi.enabled -}}
      {{- $hosts = append $hosts (printf "%s-api.%s.svc" .Release.Name .Release.Namespace) -}}
    {{- end -}}
    {{- $_ := set $webhook "hosts" $hosts -}}
  {{- end -}}
  {{- $_ := set $webhook "configurations" (list .Release.Name) -}}
  {{- $_ := set $webhook "secret" (include "lapse.webhookSecret" .) -}}
  {{- if .Values.webhook.clientCA.configMap -}}
    {{- $_ := set $webhook "clientCAFile" (printf "/etc/lapse-client-ca/%s" .Values.webhook.clientCA.key) -}}
    {{- with .Values.webhook.clientCA.names -}}{{- $_ := set $webhook "clientNames" . -}}{{- end -}}
  {{- end -}}
  {{- $_ := set $configuration "webhook" $webhook -}}
{{- end -}}
{{- mergeOverwrite $configuration (deepCopy .Values.config) | toYaml -}}
{{- end -}}

{{- define "lapse.clusterRole" -}}
{{- $name := printf "%s:%s" .root.Release.Name .part -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $name }}
  labels:
    {{- include "lapse.labels" .root | nindent 4 }}
{{- toYaml .content | nindent 0 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $name }}
  labels:
    {{- include "lapse.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "lapse.account" .root }}
    namespace: {{ .root.Release.Namespace }}
{{- end -}}
