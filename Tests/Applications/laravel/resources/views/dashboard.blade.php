<!DOCTYPE html>
<html lang="en">
<head><meta name="csrf-token" content="{{ csrf_token() }}"><title>Notes</title></head>
<body>
<p>Notes of {{ auth()->user()->email }}</p>
<ul>@foreach ($notes as $note)<li>{{ $note }}</li>@endforeach</ul>
<form method="POST" action="/notes">@csrf <input name="text"><button>Add</button></form>
<form method="POST" action="/logout">@csrf <button>Log out</button></form>
</body>
</html>
