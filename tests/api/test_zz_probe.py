import json, httpx
def show(r, name):
    b=r.text[:230].replace("\n"," ")
    print(f"{name:40} {r.status_code} {r.headers.get('content-type')} {b if r.status_code>=400 or name.startswith('!') else b[:60]}")
def test_it(registry):
    h=registry.http
    print()
    def get(p,**k):
        try: show(h.get(p,**k), p[:60])
        except Exception as e: print(p[:60], repr(e))
    def post(p,name="",**k):
        try: show(h.post(p,**k), "POST "+p+" "+name)
        except Exception as e: print(p[:60], repr(e))
    J={"Content-Type":"application/json"}
    for q in ["q=","q=%20","q=%00","q=a%ffb","q=x&q=y","q=x&zz=1","q="+"a"*10000,"q=the","q=%3F%3F","q=x&limit=0","q=x&limit=101","q=x&limit=abc","q=x&limit=1e9","q=x&limit=-1","q=x&limit=%20","q=x&limit=99999999999999999999999","q=x&lat=91&lon=0","q=x&lat=NaN&lon=0","q=x&lat=inf&lon=0","q=x&lon=1","q=x&lat=1","q=x&city=Nowhereville","q=x&country=Narnia","q=x&city=%20","q=x&country=%20","q=x&cursor=abc","q=x&cursor=%00","q=x&cursor=%ff","q=x&cursor=","q=x&format=zzz","q=x&category=zzz","q=x&category=%00","","q=x&lat=&lon=","q=x&lat=1e400&lon=1", "q=x&nonce=%00", "q[]=x","q=x;limit=3","%ff=x"]:
        get("/v1/search?"+q)
    for p in ["/v1/sites/%00","/v1/sites/a%2fb","/v1/sites/"+"a"*300+".com","/v1/sites/%ff","/v1/sites/localhost","/v1/sites/127.0.0.1","/v1/sites/zaytoun-table.test?as=zz","/v1/sites/ZAYTOUN-table.test","/v1/sites/zaytoun-table.test/","/v1/sites?limit=0","/v1/sites?cursor=x","/v1/sites?country=%00","/v1/sites?country=Jordan","/v1/rankings/x","/v1/rankings/"+"0"*26,"/v1/rankings/"+"9"*5000,"/v1/rankings/%00","/v1/registrations/%00","/v1/registrations/nope","/v1/registrations/nope/events","/v1/registrations/"+"A"*4000,"/tile/../../etc/passwd","/tile/..%2f..%2fetc%2fpasswd","/tile/0/000","/tile/0/x999/000","/tile/99/000","/tile/0/000.p/0","/tile/0/000.p/99999999999999","/tile/entries/000","/tile/","/tile","/static/../app.py","/static/..%2f..%2fapp.py","/static/style.css","/nope","//","/v1","/v1/","/problems/not_found","/problems/address","/problems/%00","/problems/x%2f..","/schema","/schema/openapi.json","/schema/openapi.yml","/openapi.json","/openapi","/health/live","/health/ready","/metrics","/checkpoint","/v1/policy","/v1/log","/v1/reports/fairness","/v1/reports/fairness?from=x","/v1/reports/fairness?from=2026-01-01","/v1/reports/fairness?from=2026-01-01T00:00:00","/v1/reports/fairness?from=9999-12-31T23:59:59Z","/v1/reports/fairness?from=0001-01-01T00:00:00Z&to=0001-01-02T00:00:00%2B14:00","/?zz=1","/?q=x&city=Nowhereville","/?q=%00","/robots.txt","/bot","/favicon.ico"]:
        get(p)
    post("/v1/search",content=b"",name="empty")
    post("/v1/search",content=b"",headers=J,name="empty json")
    post("/v1/search",content=b"{}",headers=J,name="{}")
    for n,b in {"deep":b"["*3000+b"]"*3000,"dup":b'{"q":"a","q":"b"}',"trail":b'{"q":"a"} x',"bom":b'\xef\xbb\xbf{"q":"a"}',"utf16":'{"q":"a"}'.encode("utf-16"),"bad8":b'{"q":"\xff"}',"nul":b'{"q":"\\u0000"}',"sur":b'{"q":"\\ud800"}',"unknown":b'{"q":"a","z":1}',"type":b'{"q":1}',"limit":b'{"q":"a","limit":1.5}',"limits":b'{"q":"a","limit":"3"}',"nan":b'{"q":"a","lat":NaN,"lon":1}',"inf":b'{"q":"a","lat":1e400,"lon":1}',"null":b"null","arr":b"[]","str":b'"x"',"long":b'{"q":"'+b"a"*2000+b'"}',"big":b'{"q":"'+b"a"*70000+b'"}',"snake":b'{"q":"a","Q":1}', "limnull":b'{"q":"a","limit":null}'}.items():
        post("/v1/search",content=b,headers=J,name=n)
    post("/v1/search",content=b'{"q":"a"}',headers={"Content-Type":"text/plain"},name="text")
    post("/v1/search",content=b'{"q":"a"}',headers={"Content-Type":"application/x-www-form-urlencoded"},name="form")
    post("/v1/search",content=b'{"q":"a"}',headers={"Content-Type":"application/json; charset=utf-16"},name="cs16")
    post("/v1/search",content=b'{"q":"a"}',headers={"Content-Type":"application/xml"},name="xml")
    post("/v1/search",content=b'{"q":"a"}',headers={"Content-Type":";;;"},name="weird ct")
    post("/v1/search?zz=1",content=b'{"q":"a"}',headers=J,name="param")
    for hst in ["","x","a"*300,"shop.example","\u0000","com","127.0.0.1","a b.com","https://a.com","x.co.uk","münchen.de","a.test","🦊.test"]:
        post("/v1/challenges",json={"host":hst},name=repr(hst[:10]))
    post("/v1/challenges",json={"host":1},name="int")
    post("/v1/challenges",json={"host":"a.test","x":1},name="unk")
    post("/v1/registrations",content=b"x",name="noct")
    K={"Content-Type":"application/jose"}
    for n,b in {"empty":b"","x":b"x","dots":b"..","big":b"a"*70000,"20k":b"a.b."+b"a"*20000,"bin":b"\xff\x00.."}.items():
        post("/v1/registrations",content=b,headers=K,name=n)
    for m in ["PUT","DELETE","PATCH","HEAD","OPTIONS","TRACE","BREW"]:
        for p in ["/v1/search","/v1/sites/zaytoun-table.test","/nope","/v1/challenges", "/"]:
            r=h.request(m,p); show(r,"!"+m+" "+p); print("    ",r.headers.get("allow"), r.headers.get("access-control-allow-methods"))
    r=h.options("/v1/search",headers={"Origin":"https://a.b","Access-Control-Request-Method":"POST","Access-Control-Request-Headers":"content-type"}); print(r.status_code,r.headers)
    r=h.get("/v1/search?q=x",headers={"Origin":"https://a.b"}); print(r.status_code,r.headers)
    r=h.get("/nope",headers={"Origin":"https://a.b"}); print(r.status_code,r.headers)
    print(registry.log.read_text()[-6000:])
