package main

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A fieldRow and a typeRow are BuiltinField and BuiltinType of packages/apiserver/src/schema/builtinTable.ts, as far as Go knows them.
type fieldRow struct {
	Name string `json:"name"`
	T    string `json:"t"`
	N    int    `json:"n,omitempty"`
	G    string `json:"g"`
	List bool   `json:"list,omitempty"`
	Map  bool   `json:"map,omitempty"`
	Ptr  bool   `json:"ptr,omitempty"`
	Omit bool   `json:"omit,omitempty"`
	Zero bool   `json:"omitzero,omitempty"`
	PS   string `json:"ps,omitempty"`
	MK   string `json:"mk,omitempty"`
	PB   string `json:"pb,omitempty"`
}

type embeddedRow struct {
	N int    `json:"n"`
	T string `json:"t"`
}

type typeRow struct {
	Go       string        `json:"go"`
	Fields   []fieldRow    `json:"fields"`
	Embedded []embeddedRow `json:"embedded,omitempty"`
	Wire     string        `json:"wire,omitempty"`
}

type typeTable struct {
	Kinds map[string]string  `json:"kinds"`
	Types map[string]typeRow `json:"types"`
}

// specials are structs that JSON sees as one value.
var specials = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():                                  "Time",
	reflect.TypeFor[metav1.MicroTime]():                             "MicroTime",
	reflect.TypeFor[metav1.Duration]():                              "Duration",
	reflect.TypeFor[resource.Quantity]():                            "Quantity",
	reflect.TypeFor[intstr.IntOrString]():                           "IntOrString",
	reflect.TypeFor[runtime.RawExtension]():                         "RawExtension",
	reflect.TypeFor[metav1.FieldsV1]():                              "FieldsV1",
	reflect.TypeFor[apiextensionsv1.JSON]():                         "JSON",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       "JSON",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        "JSON",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): "JSON",
}

// wires says how a protobuf message becomes the JSON value that replaces it.
var wires = map[reflect.Type]string{
	reflect.TypeFor[apiextensionsv1.JSON]():                         "raw",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       "orArray",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        "orBool",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): "orStringArray",
}

func collectTypes() typeTable {
	table := typeTable{Kinds: map[string]string{}, Types: map[string]typeRow{}}
	scheme := newScheme()
	addKind := func(key string, t reflect.Type) { table.Kinds[key] = table.add(t) }
	eachRoot(scheme, func(key string, object runtime.Object) { addKind(key, reflect.TypeOf(object).Elem()) })
	for _, group := range served {
		gv := group.groupVersion()
		for _, kind := range group.listed {
			list := mustNew(scheme, gv.WithKind(kind+"List"))
			addKind(gv.String()+"/"+kind+"List", reflect.TypeOf(list).Elem())
		}
		addKind(gv.String()+"/DeleteOptions", reflect.TypeFor[metav1.DeleteOptions]())
	}
	for key, value := range metaKinds {
		addKind(key, reflect.TypeOf(value))
	}
	return table
}

// add puts the struct (or message) t and everything reachable from it into the table and returns its name.
func (table typeTable) add(t reflect.Type) string {
	name := modelName(t)
	if _, done := table.Types[name]; done {
		return name
	}
	table.Types[name] = typeRow{} // ends the recursion of types that contain themselves
	row := typeRow{Go: t.String(), Fields: []fieldRow{}, Wire: wires[t]}
	if t.Kind() == reflect.Slice {
		row.Wire = "items"
		row.Fields = append(row.Fields, table.field("items", reflect.StructField{Type: reflect.SliceOf(t.Elem())}, 1))
	} else {
		table.addFields(&row, t)
	}
	table.Types[name] = row
	return name
}

func (table typeTable) addFields(row *typeRow, t reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		jsonName, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		number := protobufNumber(field)
		if !field.IsExported() || (jsonName == "-" && row.Wire == "") {
			continue
		}
		if field.Anonymous && jsonName == "" {
			table.inline(row, field, number)
			continue
		}
		if row.Wire != "" {
			jsonName = strings.ToLower(field.Name[:1]) + field.Name[1:]
		}
		if jsonName == "" {
			panic(fmt.Sprintf("%s.%s has no JSON name", t, field.Name))
		}
		entry := table.field(jsonName, field, number)
		entry.Omit = hasOption(options, "omitempty")
		entry.Zero = hasOption(options, "omitzero")
		entry.PS = field.Tag.Get("patchStrategy")
		entry.MK = field.Tag.Get("patchMergeKey")
		row.Fields = append(row.Fields, entry)
	}
}

// inline flattens an embedded struct; in protobuf it is a message of its own, unless it has no number at all.
func (table typeTable) inline(row *typeRow, field reflect.StructField, number int) {
	var inner typeRow // not looked up in the table: there it may be half done when types contain each other
	table.addFields(&inner, field.Type)
	for _, entry := range inner.Fields {
		entry.N = 0
		row.Fields = append(row.Fields, entry)
	}
	if number != 0 {
		row.Embedded = append(row.Embedded, embeddedRow{N: number, T: table.add(field.Type)})
	}
}

func (table typeTable) field(name string, field reflect.StructField, number int) fieldRow {
	entry := fieldRow{Name: name, N: number, G: field.Type.String()}
	table.describe(&entry, field.Type)
	return entry
}

// describe peels pointer, map and list off t, in that order, and names what is left.
func (table typeTable) describe(entry *fieldRow, t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		entry.Ptr = true
		t = t.Elem()
	}
	if t.Kind() == reflect.Map {
		mustBe(t.Key().Kind() == reflect.String, t)
		entry.Map = true
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		if isMessage(t) {
			entry.PB = table.add(t)
		} else {
			mustBe(!entry.Map, t)
		}
		entry.List = true
		t = t.Elem()
	}
	entry.T = table.element(entry, t)
}

func (table typeTable) element(entry *fieldRow, t reflect.Type) string {
	if special, ok := specials[t]; ok {
		if _, ok := wires[t]; ok {
			entry.PB = table.add(t)
		}
		return special
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64, reflect.Float64:
		return t.Kind().String()
	case reflect.Slice:
		mustBe(t.Elem().Kind() == reflect.Uint8, t)
		return "bytes"
	case reflect.Struct:
		return table.add(t)
	default:
		panic(fmt.Sprintf("no way to describe %s", t))
	}
}

// isMessage tells a named slice that protobuf wraps into a message (ExtraValue) from one it writes as repeated.
func isMessage(t reflect.Type) bool {
	_, ok := reflect.PointerTo(t).MethodByName("Unmarshal")
	return t.Name() != "" && ok
}

func protobufNumber(field reflect.StructField) int {
	parts := strings.Split(field.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil {
		panic(fmt.Sprintf("protobuf tag of %s: %v", field.Name, err))
	}
	return number
}

func hasOption(options, name string) bool {
	for option := range strings.SplitSeq(options, ",") {
		if option == name {
			return true
		}
	}
	return false
}

// modelName is the name of t's definition in the OpenAPI documents.
func modelName(t reflect.Type) string {
	if named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		return named.OpenAPIModelName()
	}
	host, path, _ := strings.Cut(t.PkgPath(), "/")
	labels := strings.Split(host, ".")
	for left, right := 0, len(labels)-1; left < right; left, right = left+1, right-1 {
		labels[left], labels[right] = labels[right], labels[left]
	}
	return strings.Join(labels, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

func mustBe(ok bool, t reflect.Type) {
	if !ok {
		panic(fmt.Sprintf("unexpected shape: %s", t))
	}
}
