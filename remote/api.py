#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""api.py TREE OUT: makes code of cuda/api/api.def and remote/frames.def in the folder OUT.
api.py TREE doc:    prints build/docs/cuda-api.md.

Made are: ops.h (numbers, structs), protocol.h (what two builds compare), stubs.c, refused.c and libcuda.map (client), library.h
and cases.c (server), names.c (each entry's name, shape and hash); and what cuda/api/entries.py makes.

What two builds compare is what crosses (docs/remote.md): KVGPU_REMOTE_VERSION has the release and a hash of the numbers in COMMON,
each entry has a hash of its own. made.d in OUT tells make that the code is made of these headers, too.
"""
import hashlib
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../cuda/api"))
sys.dont_write_bytecode = True
import entries as table  # noqa: E402
from entries import Bad, options_of, write  # noqa: E402

SCALARS = {"u64": ("size_t", "cuuint64_t", "unsigned long long", "CUgraphConditionalHandle", "CUdeviceptr", "CUtexObject", "CUsurfObject"),
           "u32": ("unsigned int", "int", "CUdevice", "CUlimit", "CUfunc_cache", "CUsharedconfig", "CUarray_format",
                   "CUaddress_mode", "CUfilter_mode", "CUfunction_attribute", "CUdevice_P2PAttribute", "CUstreamCaptureMode",
                   "CUstreamCaptureStatus", "CUgraphNodeType", "CUkernelNodeAttrID",
                   "CUmem_advise", "CUfunctionLoadingState", "cuuint32_t", "CUstreamAttrID", "CUtensorMapDataType", "CUtensorMapInterleave",
                   "CUtensorMapSwizzle", "CUtensorMapL2promotion", "CUtensorMapFloatOOBfill", "CUtensorMapIm2ColWideMode",
                   "CUmemAllocationGranularity_flags", "CUatomicOperation"),
           "u16": ("unsigned short",), "u8": ("unsigned char", "void"), "f32": ("float",), "f64": ("double",)}
WIRE = {c: w for w, names in SCALARS.items() for c in names}
C_OF = {"u64": "uint64_t", "u32": "uint32_t", "u16": "uint16_t", "u8": "uint8_t", "f32": "float", "f64": "double"}
BYTES = {"u64": 8, "f64": 8, "u32": 4, "f32": 4, "u16": 2, "u8": 1}
HANDLES = {"CUcontext": "CONTEXT", "CUmodule": "MODULE", "CUfunction": "FUNCTION", "CUstream": "STREAM", "CUevent": "EVENT",
           "CUarray": "ARRAY", "CUmipmappedArray": "MIPMAP", "CUtexref": "TEXREF", "CUsurfref": "SURFREF", "CUgraph": "GRAPH",
           "CUgraphNode": "NODE", "CUgraphExec": "EXEC", "CUlinkState": "LINK", "CUuserObject": "USER",
           "CUmemoryPool": "POOL", "CUmemGenericAllocationHandle": "PHYSICAL"}
NUMBERED = ("CUmemGenericAllocationHandle",)  # handles that are numbers in C
WRONG = {"CUcontext": "INVALID_CONTEXT", "CUuserObject": "INVALID_VALUE", "CUmemoryPool": "INVALID_VALUE",
         "CUmemGenericAllocationHandle": "INVALID_VALUE"}  # the client's error for a stale handle; others INVALID_HANDLE
# a call that is given a stream, or first of all handles one of these, needs no current context, as with NVIDIA's driver
FINDERS = ("CUevent", "CUmodule", "CUarray", "CUmipmappedArray")
NULL_TOO = ("CUgraph", "CUgraphNode", "CUgraphExec")  # of NULL the library says what is wrong
# structs without a handle or a pointer that is not the GPU's, with their sizes; and one whose handle is replaced on the way
STRUCTS = {"CUDA_ARRAY_DESCRIPTOR": 24, "CUDA_ARRAY3D_DESCRIPTOR": 40, "CUDA_ARRAY_MEMORY_REQUIREMENTS": 32, "CUDA_ARRAY_SPARSE_PROPERTIES": 48, "CUDA_TEXTURE_DESC": 104, "CUDA_RESOURCE_VIEW_DESC": 112,
           "CUdevprop": 56, "CUuuid": 16, "CUDA_MEMSET_NODE_PARAMS": 40, "CUkernelNodeAttrValue": 64, "CUstreamAttrValue": 64,
           "CUDA_RESOURCE_DESC": 56, "CUtensorMap": 128, "CUgraphEdgeData": 8, "CUstreamBatchMemOpParams": 48,
           "CUmemAllocationProp": 32, "CUmemPoolProps": 88, "CUmemLocation": 8, "CUipcMemHandle": 64, "CUipcEventHandle": 64}
STRUCT_WIRE = {"CUDA_RESOURCE_DESC": "struct kvgpu_remote_resource"}
WORDS = ("CUtensorMap",)  # structs whose alignment a frame does not have
ADDRESSES = {"CUDA_MEMSET_NODE_PARAMS": "dst"}  # members of structs that are addresses of the GPU
# structs that say where memory is: the member that does, and one that is a pointer, which nobody gets
LOCATIONS = {"CUmemAllocationProp": (".location", ".win32HandleMetaData"), "CUmemPoolProps": (".location", ".win32SecurityAttributes"),
          "CUmemLocation": ("", None)}
# the greatest value of enums that programs take for an index
MOST = {"CUstreamCaptureStatus": 2, "CUgraphNodeType": 31, "CUfunc_cache": 3, "CUsharedconfig": 2, "CUaddress_mode": 3,
        "CUfilter_mode": 1, "CUfunctionLoadingState": 1}
FIRST_OP = 16  # those below are the channel's
# headers of what all frames share, with the constants that cross; of structs that do, their static_asserts have the layout. A class
# of handles has its number for good, so that a further one changes nothing
COMMON = {"remote/wire/frame.h": r"(?!CLASS_|NR_)", "remote/channel/stream.h": r"DOWN_",
          "remote/channel/layout.h": r"SHMEM_|NOTIFICATION_",
          "remote/channel/attach.h": r"ATTACH_(NONE|FREE|TAKEN|REFUSED|AWAY|REQUESTS|HERE)$"}
# relays are of one build, but for its comments
RELAYS = ["remote/cluster/relay/" + name for name in ("tags.h", "message.h", "cut.h", "note.h", "control.h")]
HEADER = "/* Made by remote/api.py of cuda/api/api.def and remote/frames.def. */\n"


class Arg(table.Arg):
    """one argument of a call that is made; kind: scalar, handle, struct, string, list. Of other calls only the C"""

    kind = counts = None

    def classify(self):
        if self.address:
            self.kind = "scalar"
        elif self.type == "char" and self.stars and self.const:
            self.kind = "string"
        elif self.count:
            self.kind = "list"
        elif self.type in HANDLES:
            self.kind = "handle"
        elif self.type in STRUCTS:
            self.kind = "struct"
        elif self.type in WIRE and self.type != "void" and (not self.stars or self.out):
            self.kind = "scalar"
        else:
            raise Bad("no kind for " + self.c)
        if len(self.stars) > 1:
            raise Bad("pointer to pointer: " + self.c)

    def wire(self):
        if self.kind == "handle" or self.type in HANDLES or self.address:
            return "u64"
        return WIRE[self.type]

    def wants(self):
        """a bit of the frame says whether it is not NULL"""
        return self.null and (self.out or self.kind == "list")

    def bytes(self, count):
        """of a list that is none of handles, whose length is COUNT"""
        return f"{STRUCTS.get(self.type) or BYTES[WIRE[self.type]]}ull * {f'({count})' if '-' in count else count}"

    def length(self):
        """of a list, in the server"""
        return self.count if self.count.isdigit() else f"q.{self.count}"


class Entry(table.Entry):
    frame = False

    def __init__(self, line):
        super().__init__(line, Arg)
        self.made = self.way in ("async", "sync", "waits")
        if self.made:
            if self.way == "async" and "when" not in self.options:
                raise Bad("what async calls depend on is needed")
            if self.has("ptsz") and not any(x.type == "CUstream" for x in self.args):
                raise Bad("no stream, and a form with ptsz")
            self.lay_out()

    def needs(self):
        """the flag of call_enter()"""
        handles = [x.type for x in self.args if x.kind == "handle" and not x.out]
        finds = self.has("finds") or "CUstream" in handles or any(t in FINDERS for t in handles[:1])
        return "CALL_NO_CONTEXT" if self.has("nocontext") else "CALL_FINDS_CONTEXT" if finds else "0"

    def lay_out(self):
        """fields of request and answer: (wire type or C type, name, count, bytes)"""
        q, a, by_name = [], [], {x.name: x for x in self.args}
        for x in self.args:
            x.classify()
        for x in self.args:
            if x.kind == "list" and not x.count.isdigit():
                n = x.count.split("-")[0]
                if n not in by_name:
                    raise Bad("no argument " + n)
                by_name[n].counts = x
        for x in self.args:
            if x.kind == "struct":
                field = (STRUCT_WIRE.get(x.type, x.type), x.name, 0, STRUCTS[x.type])
                if x.type in WORDS:
                    field = ("u64", x.name, STRUCTS[x.type] // 8, STRUCTS[x.type])
                a += [field] if x.out else []
                q += [field] if x.both or not x.out else []
            elif x.kind == "string":
                q.append(("u32", x.name + "_bytes", 0, 4))
            elif x.kind in ("scalar", "handle"):
                if x.out:
                    a.append((x.wire(), x.name, 0, BYTES[x.wire()]))
                if not x.out or x.counts:
                    q.append((x.wire(), x.name, 0, BYTES[x.wire()]))
        if any(x.wants() for x in self.args):
            q.append(("u32", "want", 0, 4))
        self.q, self.a = q, a

    def crosses(self):
        """all of it that the other side has to have, too"""
        args = "; ".join(f"{x.kind} {x.c}[{x.count}]{x.null}{x.both}" for x in self.args)
        return f"{crossing(self)} {args}"

    def changes_graphs(self):
        """whether a graph may get or lose nodes, or an executable one made of it no longer fit"""
        types = [x.type for x in self.args]
        return ("CUgraph" in types or "CUgraphNode" in types) and "CUgraphExec" not in types and \
            not re.search("Get|Find|Create|Clone|Retain|Release|Print|cuGraphDestroy$", self.name)

    def parent(self, of):
        """the argument that a new handle of class OF hangs on; None: the current context; "none": nothing"""
        return self.options.get("parent", "none" if of == "CONTEXT" else None)


class Frame:
    """a line of frames.def"""

    frame, made, way, args = True, False, "frame", ()

    def __init__(self, line):
        m = re.fullmatch(r"(\w+)\s+(\w+)\(([^()]*)\)\s*(?:->\s*\(([^()]*)\))?\s*(.*)", line)
        if not m:
            raise Bad("line not understood")
        _, self.name, fields, answer, options = m.groups()
        self.options = options_of(options)
        self.line = line
        self.read_fields(fields, answer)

    def read_fields(self, fields, answer):
        self.q = [field(f) for f in filter(None, fields.split(","))]
        self.a = [field(f) for f in filter(None, (answer or "").split(","))]

    def has(self, option):
        return option in self.options

    def crosses(self):
        return crossing(self)


def crossing(e):
    return f"{e.name} {e.options.get('meaning', 1)} {ordered(e.q)} {ordered(e.a)}"


def field(text):
    m = re.fullmatch(r"(\w+) (\w+)(?:\[(\d+)\])?", text.strip())
    if not m or m.group(1) not in BYTES:
        raise Bad("field not understood: " + text)
    n = int(m.group(3) or 0)
    return (m.group(1), m.group(2), n, BYTES[m.group(1)] * max(n, 1))


def read_table(tree):
    entries, reasons = table.read(Entry)
    frames = []
    for number, line in enumerate(open(os.path.join(tree, "remote/frames.def")), 1):
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        try:
            frames.append(Frame(line))
        except Bad as why:
            sys.exit(f"remote/frames.def:{number}: {why}: {line}")
    names = [f.name for f in frames]
    twice = {n for n in names if names.count(n) > 1}
    if twice:
        sys.exit(f"remote/frames.def: there twice: {', '.join(sorted(twice))}")
    return entries, frames, reasons


# ------------------------------------------------------------------ protocol.h: what two builds compare

def plain(text):
    """C without comments"""
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def value_of(expression, known):
    try:
        return eval(re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", expression), {"__builtins__": {}}, known)  # pylint: disable=eval-used
    except (NameError, SyntaxError, TypeError):
        return None


def constants(text, known):
    """yields (name, value) of macros and enumerators; value: None where it is more than constants"""
    for m in re.finditer(r"^#define (\w+)[ \t]+(.+)$|\benum\s*\w*\s*\{([^}]*)\}", plain(text), re.M):
        names, last = [m.group(1, 2)] if m.group(1) else [], -1
        for name in filter(None, (e.strip() for e in (m.group(3) or "").split(","))):
            names.append([w.strip() for w in name.split("=")] if "=" in name else (name, None))
        for name, expression in names:
            value = value_of(expression, known) if expression else None if last is None else last + 1
            last = value
            if value is not None:
                known[name] = value
            yield name, value


def common_facts(tree):
    """numbers and layouts of what all frames share, each as a text"""
    facts, known = [], {"UINT64_MAX": 2**64 - 1, "UINT32_MAX": 2**32 - 1}
    for path, wanted in COMMON.items():
        text = open(os.path.join(tree, path)).read()
        for name, value in constants(text, known):
            if re.match(wanted, name) and value is None:
                sys.exit(f"{path}: {name}: this is no number that remote/api.py can work out")
            facts += [f"{name} = {value}"] if re.match(wanted, name) else []
        text = " ".join(plain(text).split())
        facts += [" ".join(m) for m in re.findall(r"\b(WIRE_AT|WIRE_SIZE)\(([^()#]*)\);", text)]
        facts += [" ".join(m) for m in re.findall(r"\b(offsetof|sizeof) ?\(([^()]*)\) == (\w+)", text)]
    return sorted(facts)


def digest(*texts):
    return int(hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16], 16)


def entry_hash(e):
    return digest(e.crosses())


def protocol_h(tree, made):
    """the version is 'K', the release's three numbers of 8 bits, and 32 bits of a hash"""
    text = open(os.path.join(tree, "kvgpu.mk")).read()
    numbers = re.findall(r"\d+", re.search(r"^KVGPU_VERSION\s*:= (\S+)$", text, re.M).group(1)) + ["0", "0"]
    release = int.from_bytes([ord("K")] + [int(n) for n in numbers[:3]], "big")
    common, hashes = common_facts(tree), [entry_hash(e) for e in made]
    if len(set(hashes)) < len(hashes) or len(hashes) > 1024:
        sys.exit("remote/api.py: two entries of the table have one hash, or it has more than KVGPU_REMOTE_TABLE_MAX")
    version, table_hash = release << 32 | digest(*common) >> 32, sum(hashes) % 2**64
    relays = digest(*common, f"{table_hash}", *(" ".join(plain(open(os.path.join(tree, p)).read()).split()) for p in RELAYS))
    return HEADER + "#ifndef KVGPU_REMOTE_PROTOCOL_H\n#define KVGPU_REMOTE_PROTOCOL_H\n\n" +\
        f"#define KVGPU_REMOTE_VERSION\t0x{version:016x}ull\n" +\
        f"/* the sum of the hashes of all entries */\n#define KVGPU_REMOTE_TABLE\t0x{table_hash:016x}ull\n" +\
        f"/* of relays, which have to be of one build */\n#define KVGPU_REMOTE_RELAYS\t0x{relays:016x}ull\n" +\
        f"/* for people */\n#define KVGPU_REMOTE_PROTOCOL\t\"{version % 2**32:08x}-{table_hash >> 32:08x}\"\n\n#endif\n"


# ------------------------------------------------------------------ ops.h

def ordered(fields):
    """u64 first, then smaller; structs before all; with padding to 8"""
    out = sorted(fields, key=lambda f: -BYTES.get(f[0], 16))
    n = sum(f[3] for f in out)
    if n % 8:
        out.append(("u8", "pad", 8 - n % 8, 8 - n % 8))
    return out


def struct(name, fields):
    fields, at, text, asserts = ordered(fields), 0, "", ""
    if not fields:
        return ""
    for kind, field_name, n, size in fields:
        text += f"\t{C_OF.get(kind, kind)} {field_name}{f'[{n}]' if n else ''};\n"
        asserts += f"static_assert(offsetof(struct {name}, {field_name}) == {at}, \"{name}.{field_name}\");\n"
        at += size
    return f"struct {name} {{\n{text}}};\n{asserts}static_assert(sizeof(struct {name}) == {at}, \"{name}\");\n\n"


def ops_h(entries, frames):
    made = frames + [e for e in entries if e.made]
    text = HEADER + "#ifndef KVGPU_REMOTE_OPS_H\n#define KVGPU_REMOTE_OPS_H\n\n#include <assert.h>\n#include <stddef.h>\n\n"
    text += "#include <cuda/api/api.h>\n#include <remote/wire/frame.h>\n\n#include \"protocol.h\"\n\nenum kvgpu_remote_op {\n"
    for i, e in enumerate(made):
        text += f"\tOP_{e.name} = {FIRST_OP + i},\n"
    text += f"\tKVGPU_REMOTE_OPS = {FIRST_OP + len(made)}\n}};\n\n"
    for e in made:
        text += struct("q_" + e.name, e.q) + struct("a_" + e.name, e.a)
    return text + "#endif\n"


def fails(condition, error):
    return f"\tif ({condition})\n\t\treturn CUDA_ERROR_{error};"


# ------------------------------------------------------------------ client

def stub(e):
    t, late = [], []
    t.append(e.prototype() + "\n{")
    t += [f"\tstruct q_{e.name} q = {{ 0 }};"] if e.q else []
    t += [f"\tconst struct a_{e.name} *a;"] if e.a else []
    t += [f"\tvoid *{x.name}_here;" for x in e.args if x.out and x.kind == "handle"]
    t.append("\tstruct call c;")
    t.append(f"\tCUresult r = call_enter({e.needs()});\n")
    gone = f"\tif (r == CUDA_ERROR_SYSTEM_NOT_READY)\n\t\treturn {e.options['gone']};" if e.has("gone") else ""
    if gone:
        t.append(gone.replace("(r ==", "(" + " && ".join(x.name for x in e.args if x.out) + " && r =="))
    t.append("\tif (r)\n\t\treturn r;")
    t.append(f"\tcall_init(&c, OP_{e.name}, " + ("&q, sizeof(q));" if e.q else "NULL, 0);"))
    bit = 0
    outs = [x for x in e.args if x.out]
    t += ["\troute_current(&c.to);"] if e.has("current") else []
    given = [x for x in e.args if (x.kind == "struct" and x.stars or x.kind == "string" or x.out) and not x.null]
    t += [fails("!" + x.name, "INVALID_VALUE") for x in given]
    t += [f"\tif ({e.options['clears']})\n\t\t*{e.options['clears']} = NULL;"] if e.has("clears") else []
    t += [fails(e.options["wrong"], "INVALID_VALUE")] if e.has("wrong") else []
    for x in e.args:
        if x.wants():
            t.append(f"\tif ({x.name})\n\t\tq.want |= {1 << bit}u;")
            bit += 1
        if x.kind == "handle" and not x.out:
            t += [f"\tr = function_here(&{x.name}, NULL);\n\tif (r)\n\t\treturn r;"] if x.type == "CUfunction" else []
            if x.type == "CUstream" and e.options.get("destroys") != x.name:
                t.append(f"\tr = route_stream(&c.to, {x.name}, &q.{x.name});\n\tif (r)\n\t\treturn r;")
            else:
                null = f"{x.name} && " if x.null or x.type in NULL_TOO else ""
                wrong = "CUDA_ERROR_" + WRONG.get(x.type, "INVALID_HANDLE")
                handle = f"(const void *)(uintptr_t){x.name}" if x.type in NUMBERED else x.name
                t.append(f"\tif ({null}!route_handle(&c.to, CLASS_{HANDLES[x.type]}, {handle}, &q.{x.name}))\n\t\treturn {wrong};")
        elif x.type == "CUdevice" and not x.out:
            t.append(f"\tq.{x.name} = route_device(&c.to, {x.name});")
        elif x.kind == "scalar" and not x.out:
            value = f"(uintptr_t){x.name}" if x.address else x.name
            address = x.address or x.type == "CUdeviceptr"
            t += [f"\tgpu_uses({value});"] if address and e.has("touches") else []
            t += [f"\troute_address(&c.to, {value});"] if address else []
            t.append(f"\tq.{x.name} = {value};")
        elif x.kind == "scalar" and x.counts:
            t.append(f"\tq.{x.name} = *{x.name};")
        elif x.kind == "struct" and x.both:
            t.append(f"\tmemcpy(q.{x.name}, {x.name}, sizeof(q.{x.name}));")
        elif x.kind == "struct" and not x.out and x.type in STRUCT_WIRE:
            t.append(f"\tr = resource_to_wire(&c.to, {x.name}, &q.{x.name});\n\tif (r)\n\t\treturn r;")
        elif x.kind == "struct" and not x.out:
            value = ("*" if x.stars else "") + x.name
            t.append(f"\tq.{x.name} = " + (f"{x.name} ? {value} : (typeof({value})){{ 0 }};" if x.null else f"{value};"))
            if x.type in LOCATIONS:
                place, pointer = LOCATIONS[x.type]
                tries = "location_to_try" if x.type == "CUmemAllocationProp" else "location_to_server"
                asks = "location_to_ask" if e.has("anyplace") else tries
                t.append(f"\tr = {asks}(&c.to, &q.{x.name}{place});\n\tif (r)\n\t\treturn r;")
                t += [f"\tq.{x.name}{pointer} = NULL;"] if pointer else []
        elif x.kind == "string":
            t.append(f"\tr = call_string(&c, {x.name}, &q.{x.name}_bytes);\n\tif (r)\n\t\treturn r;")
        elif x.kind == "list" and not x.out:
            if x.type in HANDLES:
                handles = f"CLASS_{HANDLES[x.type]}, (const void *const *){x.name}, {x.count}"
                late.append(f"\tif (!r)\n\t\tr = call_handles(&c, {handles});")
            else:
                given = f" && {x.name}" if x.null else ""
                late.append(f"\tif (!r{given})\n\t\tr = call_bytes(&c, {x.name}, {x.bytes(x.count)});")
    t += [f"\tif (c.to.split)\n\t\treturn {e.options['across']};"] if e.has("across") else []
    t += late
    if late:
        t.append("\tif (r) {\n\t\tcall_end(&c);\n\t\treturn r;\n\t}")
    if e.has("unless"):
        t.append(f"\tif ({e.options['unless']})\n\t\treturn CUDA_SUCCESS;")
    sync = f"call_{'each' if e.has('each') else 'sync'}(&c, {'sizeof(*a)' if e.a else '0'})"
    sync = f"call_cached(&c, sizeof(*a), {e.options['stays']})" if e.has("stays") else sync
    words = f"(uint64_t[]){{ {e.options['tried']} }}" if e.has("tried") else ""
    queue = f"call_tried(&c, 0, {words}, sizeof({words}))" if words else "call_async(&c)"
    t.append(f"\tr = {e.options['when']} ? {queue} : {sync};" if e.way == "async" else f"\tr = {sync};")
    t += [gone] if gone else []
    if e.has("ends"):
        t[-1:] = [f"\tobject_ends({e.options['ends']}, true);", t[-1], f"\tif (r)\n\t\tobject_ends({e.options['ends']}, false);"]
    t += ["\tif (r)\n\t\treturn r;"] if e.a or outs or e.has("destroys") else []
    t += ["\ta = c.answer;"] if e.a else []
    for x in outs:
        wrong = violated(e, x)
        t += [fails(f"{x.name} && {wrong}" if x.null else wrong, "UNKNOWN")] if wrong else []
    for x in outs:
        guard = f"\tif ({x.name})\n\t" if x.null else ""
        if x.kind == "handle":
            cast = f"({x.type})(uintptr_t)" if x.type in NUMBERED else ""
            t.append(f"{guard}\t*{x.name} = {cast}{x.name}_here;")
        elif x.kind == "scalar" and x.type != "CUdevice":
            t.append(f"{guard}\t*{x.name} = a->{x.name};")
        elif x.kind == "struct" and x.type in WORDS:
            t.append(f"\tmemcpy({x.name}, a->{x.name}, sizeof(a->{x.name}));")
        elif x.kind == "struct" and x.type in STRUCT_WIRE:
            t.append(f"\tr = resource_from_wire(&c, &a->{x.name}, {x.name});\n\tif (r)\n\t\treturn r;")
        elif x.kind == "struct":
            t.append(f"\t*{x.name} = a->{x.name};")
            if x.type in LOCATIONS:
                place, pointer = LOCATIONS[x.type]
                t.append(fails(f"!location_here(&c, &{x.name}->{place[1:]})", "UNKNOWN"))
                t += [f"\t{x.name}->{pointer[1:]} = NULL;"] if pointer else []
        elif x.kind == "list" and x.type in HANDLES:
            p = e.options.get("parent", "")
            handles = f"CLASS_{HANDLES[x.type]}, (void **){x.name}, q.{x.count}, a->{x.count}, {p or 'NULL'}"
            t.append(fails(f"{x.name} && !answer_handles(&c, {handles})", "UNKNOWN"))
        elif x.kind == "list":
            given = f"{x.name} && " if x.null else ""
            t.append(f"\tif ({given}!answer_bytes(&c, {x.name}, {x.bytes(x.length())}))\n\t\treturn CUDA_ERROR_UNKNOWN;")
    if e.has("destroys"):
        t.append(f"\tobject_end({e.options['destroys']}, q.{e.options['destroys']});")
    t += ["\tif (!r)\n\t\tcache_invalidate(CACHE_GRAPHS);"] if e.changes_graphs() else []
    if e.has("after"):
        t.append(f"\tif (!r)\n\t\t{e.options['after']};")
    t.append("\treturn r;\n}\n")
    return "\n".join(t)


def violated(e, x):
    """a condition that is true where the answer's value of @x can't be; it stores a device, and a handle in NAME_here. A device address that what
    follows the call gets is noted there as the GPU's. None: the value is no pointer, index, length or bound"""
    value = f"a->{x.name}"
    if x.kind == "handle":
        where = {"none": "NULL", None: "current_context()"}.get(e.parent(HANDLES[x.type]), e.parent(HANDLES[x.type]))
        none = "true" if e.has("known") else "false"
        return f"!answer_handle(&{x.name}_here, &c, CLASS_{HANDLES[x.type]}, {value}, {where}, {none})"
    if x.kind == "scalar" and x.counts:
        lists = [y.name for y in e.args if y.kind == "list" and y.count == x.name and y.type in HANDLES]
        return f"!answer_count({value}, {' ? '.join(lists[:1] + [' : '.join(lists)]) if lists[1:] else lists[0]}, q.{x.name})"
    if x.type == "CUdevice":
        return f"!answer_device(&c, {value}, {x.name})"
    if x.type == "CUdeviceptr" and not re.search(rf"\b{x.name}\b", e.options.get("after", "")):
        return f"!answer_address(c.to.peer, {value})"
    if x.type in ADDRESSES:
        return f"!answer_address(c.to.peer, {value}.{ADDRESSES[x.type]})"
    return f"{value} > {MOST[x.type]}" if x.type in MOST else None


def forms(e):
    text, args = "", [x.name for x in e.args]
    if e.has("ptsz"):
        own = [f"OWN({x.name})" if x.type == "CUstream" else x.name for x in e.args]
        text += f"{e.prototype('_ptsz')}\n{{\n\treturn {e.name}({', '.join(own)});\n}}\n\n"
    if e.has("ptds"):
        text += f"{e.prototype('_ptds')}\n{{\n\treturn {e.options['ptds']}({', '.join(args + ['CU_STREAM_PER_THREAD'])});\n}}\n\n"
    return text


def op_set(name, entries):
    """a function that says whether an operation is one of these"""
    text = f"bool {name}(uint16_t op)\n{{\n\tswitch (op) {{\n" + "".join(f"\tcase OP_{e.name}:\n" for e in entries)
    return text + "\t\treturn true;\n\t}\n\treturn false;\n}\n"


def reports(made):
    return [e for e in made if e.way == "waits" or e.has("reports")]


def stream_at(made):
    """where a frame with work for the GPU names its stream, in bytes; -1: it is the null stream, or the frame is another one"""
    text = "int op_stream_at(uint16_t op)\n{\n\tswitch (op) {\n"
    for e in made:
        if (e.has("touches") or e.has("works")) and any(f[1] == "stream" for f in e.q):
            text += f"\tcase OP_{e.name}:\n\t\treturn offsetof(struct q_{e.name}, stream);\n"
    return text + "\t}\n\treturn -1;\n}\n"


def names_stream(made):
    text = "int op_names_stream(uint16_t op)\n{\n\tswitch (op) {\n"
    for e in made:
        if any(f[1] == "stream" for f in e.q):
            text += f"\tcase OP_{e.name}:\n\t\treturn offsetof(struct q_{e.name}, stream);\n"
        elif e.has("touches") or e.has("works"):
            text += f"\tcase OP_{e.name}:\n\t\treturn NAMES_NULL_STREAM;\n"
    return text + "\t}\n\treturn NAMES_NO_STREAM;\n}\n"


def gives(made):
    """operations that make something which gets a number"""
    new = {c.lower() for c in HANDLES.values()} | {"object"}
    return [e for e in made if (any(f[1] in new and f[0] == "u64" for f in e.a) if e.frame else
                                any(x.kind == "handle" and x.out for x in e.args) and not e.has("known"))]


def stubs_c(entries, frames):
    text = HEADER + "#include <remote/client/peer_copy.h>\n\n#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)\n\n"
    text += "\n".join(stub(e) + "\n" + forms(e) for e in entries if e.made)
    made = frames + [e for e in entries if e.made]
    return text + "\n" + op_set("op_touches", [e for e in made if e.has("touches")]) + "\n" + op_set("op_reports", reports(made)) + "\n" +\
        names_stream(made)


def refused_c(entries, reasons):
    text = HEADER + "#include <remote/client/refused.h>\n\n"
    for e in (e for e in entries if e.way == "refused"):
        text += "".join(f"REFUSED(\"{reasons[e.options['why']]}\", {n}, {e.parameters()})\n" for n in e.forms())
    return text


def library_map(entries):
    names = sorted([n for e in entries for n in e.forms()] + ["kvgpuMemcpyBroadcast"])
    return "{\nglobal:\n" + "".join(f"\t{n};\n" for n in names) + "local:\n\t*;\n};\n"


# ------------------------------------------------------------------ server

def library_h(entries):
    names = sorted(n for e in entries for n in e.forms() if e.way != "refused" and not n.endswith(("_ptsz", "_ptds")))
    text = HEADER + "/* The library's entry points; one that it lacks is NULL. */\n#ifndef KVGPU_REMOTE_LIBRARY_H\n"
    text += "#define KVGPU_REMOTE_LIBRARY_H\n\n#include <stdbool.h>\n\n#include <cuda/api/api.h>\n\n#define LIBRARY_NAMES(name) \\\n"
    text += " \\\n".join(f"\tname({n})" for n in names) + "\n\nstruct library {\n"
    text += "".join(f"\ttypeof({n}) *{n};\n" for n in names)
    text += "\tbool goes_on;\t/* after an error its streams go on, and only a question to it tells */\n"
    text += "\t/* cuCheckpointProcess...(), for sleep.c alone: @args as its union has them; NULL: the library lacks it */\n"
    text += "\tstruct checkpoint_calls {\n\t\tCUresult (*lock)(int pid, void *args);\n\t\tCUresult (*checkpoint)(int pid, void *args);\n"
    text += "\t\tCUresult (*restore)(int pid, void *args);\n\t\tCUresult (*unlock)(int pid, void *args);\n\t} checkpoint;\n"
    return text + "};\n\n#endif\n"


def case(e):
    n, t, call, after, bit = e.name, [], [], [], 0
    head = f"static CUresult case_{n}(struct server *s, struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)\n{{"
    take = "\tif (!kvgpu_remote_take(in, &q, sizeof(q)))\n\t\treturn CUDA_ERROR_INVALID_VALUE;"
    if e.frame:
        t += [f"\tstruct q_{n} q;\n", take] if e.q else []
        t.append(f"\treturn frame_{n}(s, {'&q, ' if e.q else ''}in, out);\n}}\n")
        return head + "\n" + "\n".join(t)
    t += [f"\tstruct q_{n} q;"] if e.q else []
    t += [f"\tstruct a_{n} *a;"] if e.a else []
    checks = []
    for x in e.args:
        if x.kind == "scalar" and not x.out:
            call.append(f"(void *)(uintptr_t)q.{x.name}" if x.address else f"({x.type})q.{x.name}")
        elif x.kind == "handle" and not x.out:
            numbered = x.type in NUMBERED
            t.append(f"\t{'void *' if numbered else x.type + ' '}{x.name} = NULL;")
            find = f"stream_find(s, q.{x.name}, &{x.name})" if x.type == "CUstream" and e.options.get("destroys") != x.name else \
                f"handle_find(s, CLASS_{HANDLES[x.type]}, q.{x.name}, (void **)&{x.name})"
            null = f"q.{x.name} && " if x.null or x.type in NULL_TOO else ""
            wrong = WRONG.get(x.type, "INVALID_HANDLE") if x.type != "CUcontext" else "INVALID_HANDLE"
            checks.append(fails(f"{null}!{find}", wrong))
            call.append(f"({x.type})(uintptr_t){x.name}" if numbered else x.name)
        elif x.kind == "string":
            t.append(f"\tconst char *{x.name};")
            checks += [f"\t{x.name} = kvgpu_remote_take_string(in, q.{x.name}_bytes);", fails("!" + x.name, "INVALID_VALUE")]
            call.append(x.name)
        elif x.kind == "struct" and x.type in WORDS:
            t.append(f"\t{x.type} {x.name} = {{ 0 }};")
            checks += [f"\tmemcpy(&{x.name}, q.{x.name}, sizeof({x.name}));"] if x.both else []
            after.append(f"\tmemcpy(a->{x.name}, &{x.name}, sizeof(a->{x.name}));")
            call.append("&" + x.name)
        elif x.kind == "struct" and x.type in STRUCT_WIRE:
            t.append(f"\t{x.type} {x.name} = {{ 0 }};")
            if x.out:
                after.append(f"\tresource_close(s, &{x.name}, &a->{x.name});")
            else:
                checks.append(f"\tif (!resource_open(s, &q.{x.name}, &{x.name}))\n\t\treturn CUDA_ERROR_INVALID_HANDLE;")
            call.append("&" + x.name)
        elif x.kind == "struct" and not x.out:
            zero = f"is_zero(&q.{x.name}, sizeof(q.{x.name})) ? NULL : " if x.null else ""
            call.append(f"{zero}{'&' if x.stars else ''}q.{x.name}")
            if x.type in LOCATIONS:
                place, pointer = LOCATIONS[x.type]
                checks.append(fails(f"!place_fine(&q.{x.name}{place})", "NOT_SUPPORTED"))
                checks += [f"\tq.{x.name}{pointer} = NULL;"] if pointer else []
        elif x.kind == "struct":
            t.append(f"\t{x.type} {x.name} = {{ 0 }};")
            after.append(f"\ta->{x.name} = {x.name};")
            call.append("&" + x.name)
        elif x.kind == "list" and not x.out:
            if x.type in HANDLES:
                t.append(f"\t{x.type} *{x.name};")
                checks.append(f"\t{x.name} = list_open(s, in, CLASS_{HANDLES[x.type]}, {x.length()});")
                checks.append(fails("!" + x.name, "INVALID_HANDLE"))
            else:
                kind = "uint8_t" if x.type == "void" else x.type
                t.append(f"\tconst {kind} *{x.name} = NULL;")
                want = f"\tif (q.want & {1 << bit}u)\n\t" if x.null else ""
                given = f"q.want & {1 << bit}u && " if x.null else ""
                checks.append(f"{want}\t{x.name} = kvgpu_remote_take_bytes(in, {x.bytes(x.length())});")
                checks.append(fails(f"{given}!{x.name}", "INVALID_VALUE"))
                bit += x.null
            cast = f"({x.type} *)(uintptr_t)" if not x.const else ""
            call.append(cast + x.name)
        elif x.kind == "list":
            t.append(f"\t{x.type} *{x.name} = NULL;")
            want = f"q.want & {1 << bit}u" if x.null else "1"
            bit += x.null
            checks.append(f"\tif ({want}) {{\n\t\t{x.name} = frame_scratch(s, {x.length()}, sizeof(*{x.name}));\n\t\tif (!{x.name})\n"
                          "\t\t\treturn CUDA_ERROR_OUT_OF_MEMORY;\n\t}")
            if x.type in HANDLES:
                handles = f"CLASS_{HANDLES[x.type]}, {x.name}, q.{x.count}, {own_parent(e, HANDLES[x.type])}"
                after.append(fails(f"{x.name} && !list_close(s, out, {handles})", "OUT_OF_MEMORY"))
            else:
                given = f"{x.name} && " if x.null else ""
                after.append(fails(f"{given}!kvgpu_remote_put_bytes(out, {x.name}, {x.bytes(x.length())})", "OUT_OF_MEMORY"))
            call.append(x.name)
        else:
            t.append(f"\t{x.type} {x.name} = 0;")
            if x.counts:
                checks.append(f"\t{x.name} = q.{x.name};")
            value, wrong = x.name, "OUT_OF_MEMORY"
            if e.has("known") and x.kind == "handle":
                value, wrong = f"handle_known(s, CLASS_{HANDLES[x.type]}, {x.name})", "INVALID_HANDLE"
            elif x.kind == "handle":
                what = f"(const void *)(uintptr_t){x.name}" if x.type in NUMBERED else x.name
                value = f"handle_give(s, CLASS_{HANDLES[x.type]}, {what}, {own_parent(e, HANDLES[x.type])})"
            after.append(f"\ta->{x.name} = {value};")
            after += [fails(f"{x.name} && !a->{x.name}", wrong)] if x.kind == "handle" else []
            call.append(f"q.want & {1 << bit}u ? &{x.name} : NULL" if x.null else "&" + x.name)
            bit += x.null
    t.append("\tCUresult r;\n")
    t += ([take] if e.q else []) + checks + ["\tif (in->left)\n\t\treturn CUDA_ERROR_INVALID_VALUE;"]
    t += ["\ta = kvgpu_remote_put(out, sizeof(*a));\n\tif (!a)\n\t\treturn CUDA_ERROR_OUT_OF_MEMORY;"] if e.a else []
    if e.has("own") or e.way == "waits":
        t.append(f"\tr = own_{n}({', '.join(['s'] + [c for c in call])});")
    else:
        t.append(f"\tif (!s->library.{n})\n\t\treturn CUDA_ERROR_NOT_SUPPORTED;\n\tr = s->library.{n}({', '.join(call)});")
    t += (["\tif (r)\n\t\treturn r;"] if after or e.has("destroys") else []) + after
    t += [f"\thandle_drop(s, q.{e.options['destroys']});"] if e.has("destroys") else []
    t.append("\treturn r;\n}\n")
    return head + "\n" + "\n".join(t)


def own_parent(e, of):
    parent = e.parent(of)
    return {"none": "0", None: "s->current"}.get(parent, f"q.{parent}")


def cases_c(entries, frames):
    made = frames + [e for e in entries if e.made]
    text = HEADER + "#include <remote/server/server.h>\n\n" + "\n".join(case(e) for e in made)
    text += "\nCUresult serve_op(struct server *s, uint16_t op, struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)\n"
    text += "{\n\tCUresult r;\n\n\tswitch (op) {\n"
    for e in made:
        take = f"\t\ttake_begin(s);\n\t\tr = case_{e.name}(s, in, out);\n\t\ttake_end(s);\n\t\treturn r;\n"
        text += f"\tcase OP_{e.name}:\n" + (take if e.has("takes") else f"\t\treturn case_{e.name}(s, in, out);\n")
    return text + "\t}\n\treturn CUDA_ERROR_NOT_SUPPORTED;\n}\n\n" + op_set("op_reports", reports(made)) + "\n" +\
        op_set("op_gives", gives(made)) + "\n" +\
        op_set("op_works", [e for e in made if e.has("touches") or e.has("works")]) + "\n" +\
        op_set("op_moves", [e for e in made if e.has("moves")]) + "\n" +\
        op_set("op_passes", [e for e in made if e.has("passes")]) + "\n" + stream_at(made)


def names_c(entries, frames):
    """of each op for the dumper, and for the handshake"""
    text = HEADER + "#include <remote/wire/dump.h>\n\n"
    made = frames + [e for e in entries if e.made]
    for e in made:
        at, rows = 0, ""
        for kind, name, n, size in ordered(e.q):
            if name != "pad":
                rows += f"\t{{ \"{name}\", {at}, {size // max(n, 1) if kind in BYTES else size}, {max(n, 1)} }},\n"
            at += size
        text += f"static const struct kvgpu_remote_field fields_{e.name}[] = {{\n{rows}\t{{ 0 }}\n}};\n"
    text += "\nconst struct kvgpu_remote_shape kvgpu_remote_shapes[] = {\n"
    text += "".join(f"\t{{ \"{e.name}\", {sum(f[3] for f in ordered(e.q))}, fields_{e.name}, 0x{entry_hash(e):016x}ull }},\n" for e in made)
    return text + f"}};\n\nconst unsigned int kvgpu_remote_nr_shapes = {len(made)};\n"


# ------------------------------------------------------------------ the page

def doc(entries, frames, reasons):
    count = {w: sum(len(e.forms()) for e in entries if e.way == w) for w in table.WAYS}
    own = sum(len(e.forms()) for e in entries if not e.has("kepler"))
    text = "# CUDA's entry points, and how each is remoted\n\nMade by `make docs` of `cuda/api/api.def`; "
    text += "what the ways mean is said in [remote.md](../../docs/remote.md). Of all, our own libcuda (`cuda/kepler/driver`) "
    text += f"has {own}, and refuses the others.\n\n| way | entry points |\n|---|---|\n"
    text += "".join(f"| {w} | {count[w]} |\n" for w in table.WAYS)
    text += f"| | {sum(count.values())} |\n"
    text += "\n| refused | because |\n|---|---|\n" + "".join(f"| {key} | {reason} |\n" for key, reason in reasons.items())
    text += "\n| entry point | since | way | our own libcuda | remarks |\n|---|---|---|---|---|\n"
    rows = []
    for e in entries:
        since = f"{e.since // 1000}.{e.since % 1000 // 10}" if e.since else ""
        way = f"{e.way}: {e.options['why']}" if e.way == "refused" else e.way
        own = f"refused: {e.options['kepler']}" if e.has("kepler") else ""
        for n in e.forms():
            remark = e.options.get("remark", "")
            if n.endswith("_ptsz"):
                remark = "the thread's own stream"
            elif n.endswith("_ptds"):
                remark = f"`{e.options['ptds'] or e.name}` on the thread's own stream"
            elif e.way == "async":
                remark = remark or "sync where the client can't tell that the arguments are right"
            rows.append(f"| `{n}` | {since} | {way} | {own} | {remark} |\n")
    return text + "".join(sorted(rows))


def made_d(out):
    """for make; a header that is gone is made by nothing, so that api.py says what is missing"""
    return f"{out}/.made: {' '.join([*COMMON, *RELAYS])}\n" + "".join(f"{p}:\n" for p in [*COMMON, *RELAYS])


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: api.py TREE OUT|doc")
    (tree, out), (entries, frames, reasons) = sys.argv[1:], read_table(sys.argv[1])
    if out == "doc":
        sys.stdout.write(doc(entries, frames, reasons))
        return
    table.write_all(out, entries)
    for name, text in (("ops.h", ops_h(entries, frames)),
                       ("protocol.h", protocol_h(tree, frames + [e for e in entries if e.made])), ("stubs.c", stubs_c(entries, frames)),
                       ("refused.c", refused_c(entries, reasons)),
                       ("libcuda.map", library_map(entries)), ("library.h", library_h(entries)),
                       ("cases.c", cases_c(entries, frames)), ("names.c", names_c(entries, frames)),
                       ("made.d", made_d(out))):
        write(os.path.join(out, name), text)


if __name__ == "__main__":
    main()
