package main

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// How many random objects of each kind are defaulted: a third of them nearly empty, a third mixed, a third nearly full.
const samples = 3000

type defaultsReport struct {
	Defaults    map[string]map[string]json.RawMessage `json:"defaults"`
	Conditional []conditional                         `json:"conditional"`
}

// A conditional default is one that a table of constants cannot say.
type conditional struct {
	Type   string         `json:"type"`
	Field  string         `json:"field"`
	Values map[string]int `json:"values"` // what was put there → how often; "" is nothing
	Where  []string       `json:"where"`  // places (kind and path) with the values seen there
	Why    string         `json:"why"`
}

// sighting is what defaulting did to one field of one struct type, over all samples.
type sighting struct {
	absent  map[string]map[string]int // place → value after, for fields that were absent
	changed map[string]bool           // places where a present value was changed
}

type observer struct {
	seen map[string]map[string]*sighting
}

// collectDefaults finds out by experiment: a default is unconditional when, in every random object of every served
// kind and in every place where its struct occurs, an absent field came back with the same value.
func collectDefaults(enums enumTable) defaultsReport {
	scheme := newScheme()
	watch := &observer{seen: map[string]map[string]*sighting{}}
	eachRoot(scheme, func(key string, prototype runtime.Object) {
		random := rand.New(rand.NewSource(1))
		for i := range samples {
			share := float64(i%3) * 0.45
			f := &filler{random: random, enums: enums, fill: share, alloc: 0.3 + 0.2*float64(i%4)}
			before := prototype.DeepCopyObject()
			f.value(reflect.ValueOf(before).Elem(), nil, 0)
			after := before.DeepCopyObject()
			scheme.Default(after)
			kind := key[strings.LastIndex(key, "/")+1:]
			watch.compare(reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem(), kind)
		}
	})
	return watch.report()
}

// compare walks two structs of one type; where is the kind and the JSON path so far.
func (o *observer) compare(before, after reflect.Value, where string) {
	o.fields(modelName(before.Type()), before, after, where)
}

// fields credits the fields of before to the struct named owner: inlined structs belong to the one they are in, for
// that is where the JSON has them, and to themselves.
func (o *observer) fields(owner string, before, after reflect.Value, where string) {
	for i := range before.NumField() {
		field := before.Type().Field(i)
		name := jsonNameOf(field)
		switch {
		case !field.IsExported() || name == "-":
		case field.Anonymous && name == "":
			o.fields(owner, before.Field(i), after.Field(i), where)
			o.fields(modelName(field.Type), before.Field(i), after.Field(i), where)
		default:
			o.field(owner, name, before.Field(i), after.Field(i), where)
		}
	}
}

func (o *observer) field(owner, name string, before, after reflect.Value, where string) {
	place := where + "." + name
	if isStruct(before.Type()) {
		o.compare(before, after, place)
		return
	}
	s := o.sighting(owner, name)
	if before.IsZero() {
		count(s.absent, where, valueOf(before, after))
		return
	}
	switch {
	case before.Kind() == reflect.Pointer && isStruct(before.Type().Elem()):
		o.compare(before.Elem(), after.Elem(), place)
	case before.Kind() == reflect.Slice && isStruct(before.Type().Elem()) && before.Len() == after.Len():
		for i := range before.Len() {
			o.compare(before.Index(i), after.Index(i), place+"[]")
		}
	case before.Kind() == reflect.Map && isStruct(before.Type().Elem()) && before.Len() == after.Len():
		for _, key := range before.MapKeys() {
			o.compare(before.MapIndex(key), after.MapIndex(key), place+"{}")
		}
	case encode(before) != encode(after):
		s.changed[place] = true
	}
}

func (o *observer) sighting(owner, name string) *sighting {
	if o.seen[owner] == nil {
		o.seen[owner] = map[string]*sighting{}
	}
	if o.seen[owner][name] == nil {
		o.seen[owner][name] = &sighting{absent: map[string]map[string]int{}, changed: map[string]bool{}}
	}
	return o.seen[owner][name]
}

func count(counts map[string]map[string]int, place, value string) {
	if counts[place] == nil {
		counts[place] = map[string]int{}
	}
	counts[place][value]++
}

// valueOf is what an absent field came back as, in JSON; "" is nothing.
func valueOf(before, after reflect.Value) string {
	if reflect.DeepEqual(before.Interface(), after.Interface()) {
		return ""
	}
	return encode(after)
}

func encode(v reflect.Value) string {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		panic(err)
	}
	return string(text)
}

// isStruct: a struct that JSON sees as an object with fields.
func isStruct(t reflect.Type) bool {
	_, special := specials[t]
	return t.Kind() == reflect.Struct && !special
}

func jsonNameOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}
